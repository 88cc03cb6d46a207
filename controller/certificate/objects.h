/* objects.h - the Secret with the webhook's certificate and the configuration of the webhook: what
 * they say, and the changes of them that a step is.
 *
 * In the Secret, tls.crt, tls.key and ca.crt are in use; the keys with NEXT are the pair that will
 * be. The Secret belongs to the configuration, and is deleted with it. Each change holds only for
 * the version of the object that was read.
 */
#pragma once

#include <jansson.h>

#include "controller/certificate/pair.h"
#include "lib/kube/object.h"

#define CERTIFICATE_NEXT "next-"

/* ---- the configuration ---- */

struct webhook {
    const Api__MutatingWebhookConfiguration *configuration;
    size_t index;           /* of the webhook in it */
    const char *namespace_; /* of the Service that the API server calls, and of the Secret */
    char *host;             /* by which it calls it */
    char *bundle;           /* that it trusts; "" if that is nothing */
};

/* INVALID if no webhook in it calls a Service. What it points to is `object`'s. */
struct err *webhook_read(const struct kube_object *object, struct webhook *ret)
    __attribute__((warn_unused_result));
void webhook_fini(struct webhook *webhook);

/* A JSON patch by which the API server trusts `bundle` for it. (The version is written, not tested:
 * a test that fails would be INVALID, as a bundle is that the server does not take.) */
json_t *webhook_trust(const struct webhook *webhook, const char *bundle);

/* ---- the Secret ---- */

/* What is there under the keys with this prefix, "" or CERTIFICATE_NEXT; NULL each that is missing
 * or no base64. The key's text in `object` is cleared. `object` NULL: there is no Secret. */
void secret_read_pair(const struct kube_object *object, const char *prefix,
                      struct certificate_pair *ret);

/* A Secret of this name whose certificate is `pair`, to be created. */
json_t *secret_new(const char *name, const struct webhook *webhook,
                   const struct certificate_pair *pair);

/* Merge patches of the Secret: the pair is used, and nothing is next; or it is next. */
json_t *secret_use(const struct kube_object *object, const struct webhook *webhook,
                   const struct certificate_pair *pair);
json_t *secret_prepare(const struct kube_object *object, const struct certificate_pair *pair);
