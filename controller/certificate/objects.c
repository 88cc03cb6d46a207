#include "controller/certificate/objects.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/base64.h"
#include "lib/base/secret.h"
#include "lib/kube/cached_client.h"

#define AUTHORITY "ca.crt"
#define CERTIFICATE "tls.crt"
#define KEY "tls.key"

/* ---- the configuration ---- */

static const Api__WebhookServiceReference *service_of(const Api__MutatingWebhook *webhook)
{
    const Api__WebhookServiceReference *service =
        webhook->client_config ? webhook->client_config->service : NULL;

    return service && service->name && service->namespace_ ? service : NULL;
}

static char *decoded_bundle(const char *encoded)
{
    char *bundle;
    size_t length;

    return encoded && base64_decode(encoded, &bundle, &length) ? bundle : mem_strdup("");
}

struct err *webhook_read(const struct kube_object *object, struct webhook *ret)
{
    const Api__MutatingWebhookConfiguration *configuration =
        KUBE_AS(Api__MutatingWebhookConfiguration, object);

    for (size_t i = 0; i < configuration->n_webhooks; i++) {
        const Api__WebhookServiceReference *service = service_of(configuration->webhooks[i]);

        if (!service)
            continue;
        *ret = (struct webhook){
            .configuration = configuration,
            .index = i,
            .namespace_ = service->namespace_,
            .host = mem_printf("%s.%s.svc", service->name, service->namespace_),
            .bundle = decoded_bundle(configuration->webhooks[i]->client_config->ca_bundle),
        };
        return NULL;
    }
    return err_new(ERR_INVALID, "none of its webhooks calls a Service");
}

void webhook_fini(struct webhook *webhook)
{
    free(webhook->host);
    free(webhook->bundle);
}

static json_t *encoded(const char *text)
{
    CLEANUP(secret_freep) char *base64 = base64_encode(text, strlen(text));

    return json_string(base64);
}

json_t *webhook_trust(const struct webhook *webhook, const char *bundle)
{
    CLEANUP(freep)
    char *path = mem_printf("/webhooks/%zu/clientConfig/caBundle", webhook->index);

    return json_pack("[{s:s, s:s, s:s}, {s:s, s:s, s:o}]", "op", "replace", "path",
                     "/metadata/resourceVersion", "value",
                     webhook->configuration->metadata->resource_version, "op", "add", "path", path,
                     "value", encoded(bundle));
}

/* ---- the Secret ---- */

static char *decoded_value(const Api__Secret *secret, const char *prefix, const char *name)
{
    CLEANUP(freep) char *key = mem_printf("%s%s", prefix, name);
    const char *value = KUBE_MAP_GET(secret->data, secret->n_data, key);
    char *text;
    size_t length;

    return value && base64_decode(value, &text, &length) ? text : NULL;
}

void secret_read_pair(const struct kube_object *object, const char *prefix,
                      struct certificate_pair *ret)
{
    const Api__Secret *secret = object ? KUBE_AS(Api__Secret, object) : NULL;

    *ret = (struct certificate_pair){0};
    if (!secret)
        return;
    ret->authority = decoded_value(secret, prefix, AUTHORITY);
    ret->certificate = decoded_value(secret, prefix, CERTIFICATE);
    ret->key = decoded_value(secret, prefix, KEY);
}

/* `pair` NULL: they are to go. */
static void set_pair(json_t *data, const char *prefix, const struct certificate_pair *pair)
{
    const struct {
        const char *name, *text;
    } values[] = {
        {AUTHORITY, pair ? pair->authority : NULL},
        {CERTIFICATE, pair ? pair->certificate : NULL},
        {KEY, pair ? pair->key : NULL},
    };

    for (size_t i = 0; i < COUNT_OF(values); i++) {
        CLEANUP(freep) char *key = mem_printf("%s%s", prefix, values[i].name);

        json_object_set_new(data, key, values[i].text ? encoded(values[i].text) : json_null());
    }
}

static json_t *owners(const struct webhook *webhook)
{
    const Api__ObjectMeta *metadata = webhook->configuration->metadata;

    return json_pack("[{s:s, s:s, s:s, s:s}]", "apiVersion", "admissionregistration.k8s.io/v1",
                     "kind", "MutatingWebhookConfiguration", "name", metadata->name, "uid",
                     metadata->uid);
}

json_t *secret_new(const char *name, const struct webhook *webhook,
                   const struct certificate_pair *pair)
{
    json_t *data = json_object();

    set_pair(data, "", pair);
    return json_pack("{s:{s:s, s:o}, s:s, s:o}", "metadata", "name", name, "ownerReferences",
                     owners(webhook), "type", "kubernetes.io/tls", "data", data);
}

json_t *secret_use(const struct kube_object *object, const struct webhook *webhook,
                   const struct certificate_pair *pair)
{
    json_t *data = json_object();

    set_pair(data, "", pair);
    set_pair(data, CERTIFICATE_NEXT, NULL);
    return if_unchanged(object, json_pack("{s:{s:o}, s:o}", "metadata", "ownerReferences",
                                          owners(webhook), "data", data));
}

json_t *secret_prepare(const struct kube_object *object, const struct certificate_pair *pair)
{
    json_t *data = json_object();

    set_pair(data, CERTIFICATE_NEXT, pair);
    return if_unchanged(object, json_pack("{s:o}", "data", data));
}
