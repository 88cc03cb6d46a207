#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/base/utf8.h"
#include "test/azsim/arm/handlers.h"
#include "test/azsim/arm/token.h"
#include "test/azsim/model/attachment.h"

enum { LIFETIME_S = 86399 };

static const char *const versions[] = {
    "2017-03-01", "2017-04-02", "2017-08-01", "2017-10-01", "2017-12-01", "2018-02-01",
    "2018-04-02", "2018-10-01", "2019-02-01", "2019-03-11", "2019-04-30", "2019-06-01",
    "2019-06-04", "2019-08-01", "2019-08-15", "2019-11-01", "2020-06-01", "2020-07-15",
    "2020-09-01", "2020-10-01", "2020-12-01", "2021-01-01", "2021-02-01", "2021-03-01",
    "2021-05-01", "2021-10-01", "2021-11-01", "2021-11-15", "2021-12-13", "2023-07-01",
    "2023-11-15", "2024-03-15", "2024-07-17", "2024-10-01", "2025-04-07",
};

/* ---- errors ---- */

static void answer_invalid(struct exchange *exchange, const char *description)
{
    answer(exchange, 400,
           json_pack("{s:s, s:s}", "error", "invalid_request", "error_description", description));
}

static void answer_bad_version(struct exchange *exchange)
{
    size_t newest = COUNT_OF(versions);

    answer(exchange, 400,
           json_pack("{s:s, s:[s,s,s]}", "error",
                     "Bad request. api-version is invalid or was not specified in the request. For "
                     "more information refer to aka.ms/azureimds",
                     "newest-versions", versions[newest - 1], versions[newest - 2],
                     versions[newest - 3]));
}

static bool version_is_known(const char *version)
{
    for (size_t i = 0; i < COUNT_OF(versions); i++)
        if (strcmp(versions[i], version) == 0)
            return true;
    return false;
}

/* ---- instance ---- */

/* "a:b;c:d" */
static json_t *tags_text(json_t *tags)
{
    CLEANUP(freep) char *text = mem_strdup("");
    const char *name;
    json_t *value;

    json_object_foreach(tags, name, value) {
        char *longer = mem_printf("%s%s%s:%s", text, *text ? ";" : "", name,
                                  json_string_value(value) ? json_string_value(value) : "");
        free(text);
        text = longer;
    }
    return json_string(text);
}

static json_t *tags_list(json_t *tags)
{
    json_t *list = json_array();
    const char *name;
    json_t *value;

    json_object_foreach(tags, name, value)
        json_array_append_new(list, json_pack("{s:s, s:O}", "name", name, "value", value));
    return list;
}

static const char *yes_no(bool yes)
{
    return yes ? "true" : "false";
}

/* What is attached: the service learns of it from the host, not from the VM's model. */
static json_t *data_disks_json(const struct vm *vm)
{
    json_t *list = json_array();

    LIST_FOREACH(&vm->attachments, link) {
        const struct attachment *attachment = ATTACHMENT_OF_VM(link);
        const struct disk_spec *spec = &attachment->disk->spec;
        const struct data_disk *item = data_disks_find(&vm->data_disks, attachment->disk->key);

        if (!attachment->attached)
            continue;
        json_array_append_new(
            list,
            json_pack(
                "{s:o, s:s, s:s, s:s, s:o, s:o, s:s, s:s, s:{s:s, s:s}, s:s, s:s, s:s, s:s}", "lun",
                json_sprintf("%u", attachment->lun), "name", attachment->disk->name, "caching",
                item ? resource_text(item->entry, "caching", "None") : "None", "createOption",
                "Attach", "diskSizeGB", json_sprintf("%lld", (long long)spec->size_gib),
                "diskCapacityBytes", json_sprintf("%lld", (long long)spec->size_gib << 30),
                "isSharedDisk", yes_no(spec->max_shares > 1), "isUltraDisk",
                yes_no(spec->sku->family == DISK_ULTRA), "managedDisk", "id", attachment->disk->id,
                "storageAccountType", spec->sku->name, "writeAcceleratorEnabled", "false",
                "bytesPerSecondThrottle", "", "opsPerSecondThrottle", "", "image", ""));
    }
    return list;
}

static json_t *storage_profile_json(const struct vm *vm)
{
    const json_t *os_disk = resource_get(vm->body, "properties.storageProfile.osDisk");

    return json_pack(
        "{s:o, s:O, s:{s:s, s:s, s:s, s:s, s:s, s:O}, s:{s:s}}", "dataDisks", data_disks_json(vm),
        "imageReference", resource_get(vm->body, "properties.storageProfile.imageReference"),
        "osDisk", "name", resource_text(os_disk, "name", ""), "osType", "Linux", "createOption",
        "FromImage", "caching", resource_text(os_disk, "caching", ""), "diskSizeGB", "128",
        "managedDisk", json_object_get(os_disk, "managedDisk"), "resourceDisk", "size", "16384");
}

static json_t *compute_json(const struct vm *vm)
{
    const struct model *model = vm->model;
    json_t *tags = json_object_get(vm->body, "tags");
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:s, s:{s:s, s:s}, s:s, s:s, s:s, s:s, s:s, s:s, s:s}",
                  "azEnvironment", "AzurePublicCloud", "location", model->location, "name",
                  vm->name, "osType", "Linux", "osProfile", "adminUsername", "azureuser",
                  "computerName", vm->spec.name, "placementGroupId", "", "platformFaultDomain", "0",
                  "platformUpdateDomain", "0", "provider", "Microsoft.Compute", "resourceGroupName",
                  vm->group->name, "resourceId", vm->id, "sku", "server");

    json_object_set_new(json, "subscriptionId", json_string(vm->group->subscription->id));
    json_object_set_new(json, "tags", tags_text(tags));
    json_object_set_new(json, "tagsList", tags_list(tags));
    json_object_set_new(json, "vmId", json_string(vm->vm_id));
    json_object_set_new(json, "vmScaleSetName",
                        json_string(vm->scale_set ? vm->scale_set->name : ""));
    json_object_set_new(
        json, "virtualMachineScaleSet",
        json_pack("{s:s}", "id", vm->scale_set && !vm_is_instance(vm) ? vm->scale_set->id : ""));
    json_object_set_new(json, "vmSize", json_string(vm->size->name));
    json_object_set_new(json, "zone", json_string(vm->spec.zone));
    json_object_set_new(json, "extendedLocation", json_pack("{s:s, s:s}", "type", "", "name", ""));
    json_object_set_new(json, "storageProfile", storage_profile_json(vm));
    return json;
}

/* The part of the document that a path names; NULL if there is none. */
static json_t *part_of(json_t *document, const char *path)
{
    CLEANUP(freep) char *words = mem_strdup(path);
    char *position = NULL;

    for (char *word = strtok_r(words, "/", &position); word && document;
         word = strtok_r(NULL, "/", &position))
        document = json_is_array(document) ? json_array_get(document, strtoul(word, NULL, 10))
                                           : json_object_get(document, word);
    return document;
}

static void answer_instance(struct exchange *exchange, const struct vm *vm, const char *path)
{
    const char *format = exchange_argument(exchange, "format");
    CLEANUP(json_decrefp)
    json_t *document =
        json_pack("{s:o, s:{s:[]}}", "compute", compute_json(vm), "network", "interface");
    json_t *part = part_of(document, path);

    exchange->kind = "imds.instance";
    if (!version_is_known(exchange->api_version))
        answer_bad_version(exchange);
    else if (!part)
        answer(exchange, 404, json_pack("{s:s}", "error", "Not found"));
    else if (format && strcasecmp(format, "text") == 0 && json_is_string(part))
        http_reply_text(exchange->reply, 200, "%s", json_string_value(part));
    else
        answer(exchange, 200, json_incref(part));
}

/* ---- identity ---- */

struct principal {
    const char *client_id, *object_id;
    char *resource_id;
};

static inline void principal_finip(struct principal *principal)
{
    free(principal->resource_id);
}

static struct principal own_identity(const struct vm *vm)
{
    return (struct principal){vm->client_id, resource_text(vm->body, "identity.principalId", ""),
                              mem_strdup(vm->id)};
}

static struct principal given_identity(const struct model *model,
                                       const struct arm_identity *identity)
{
    return (struct principal){
        identity->client_id, identity->object_id,
        mem_printf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.ManagedIdentity/"
                   "userAssignedIdentities/%s",
                   model->groups[0]->subscription->id, model->groups[0]->name, identity->name)};
}

/* The identities are resources of the first group and go with it. */
static bool has_identity(const struct vm *vm, const struct arm_identity *identity)
{
    if (vm->model->groups[0]->gone)
        return false;
    for (size_t i = 0; i < identity->n_vms; i++)
        if (strcasecmp(identity->vms[i], vm->spec.name) == 0)
            return true;
    return identity->n_vms == 0;
}

/* Whether the request names this identity, or none at all. */
static bool is_meant(const struct exchange *exchange, const struct principal *principal)
{
    const struct {
        const char *selector, *value;
    } selectors[] = {
        {"client_id", principal->client_id},
        {"object_id", principal->object_id},
        {"principal_id", principal->object_id},
        {"msi_res_id", principal->resource_id},
    };

    for (size_t i = 0; i < COUNT_OF(selectors); i++) {
        const char *wanted = exchange_argument(exchange, selectors[i].selector);

        if (wanted && strcasecmp(wanted, selectors[i].value) != 0)
            return false;
    }
    return true;
}

/* The identity that is meant: the VM's own before those that it was given. False, and answered, if
 * there is none, or more than one. */
static bool find_principal(struct exchange *exchange, const struct vm *vm, struct principal *ret)
{
    const struct arm_config *config = exchange->config;
    unsigned n = 0;

    *ret = own_identity(vm);
    if (vm->spec.identity && is_meant(exchange, ret))
        return true;
    for (size_t i = 0; i < config->n_identities; i++) {
        CLEANUP(principal_finip)
        struct principal given = given_identity(exchange->model, &config->identities[i]);

        if (!has_identity(vm, &config->identities[i]) || !is_meant(exchange, &given))
            continue;
        principal_finip(ret);
        *ret = given;
        given.resource_id = NULL;
        n++;
    }
    if (n != 1)
        answer_invalid(exchange, n ? "Multiple user assigned identities exist, please specify the "
                                     "clientId / resourceId of the identity in the token request"
                                   : "Identity not found");
    return n == 1;
}

static void answer_token(struct exchange *exchange, const struct vm *vm)
{
    CLEANUP(freep) char *resource = mem_strdup(exchange_argument(exchange, "resource"));
    unsigned lifetime =
        exchange->config->token_lifetime_s ? exchange->config->token_lifetime_s : LIFETIME_S;
    int64_t now = model_now_us(exchange->model) / 1000000;

    exchange->kind = "imds.token";
    if (strcmp(exchange->api_version, "2018-02-01") < 0) {
        answer_invalid(exchange, *exchange->api_version
                                     ? "The requested api-version is not supported"
                                     : "Required query variable 'api-version' is missing");
        return;
    }
    if (!resource) {
        answer_invalid(exchange, "Required query variable 'resource' is missing");
        return;
    }
    CLEANUP(principal_finip) struct principal principal = {0};
    if (!find_principal(exchange, vm, &principal))
        return;
    utf8_repair(resource);
    exchange->principal = mem_strdup(principal.client_id);
    struct token token = {.tenant = exchange->model->tenant_id,
                          .audience = resource,
                          .client_id = exchange->principal,
                          .object_id = principal.object_id,
                          .issued = now,
                          .expires = now + lifetime};
    CLEANUP(freep) char *text = token_write(&exchange->config->key, &token);
    answer(exchange, 200,
           json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:s}", "access_token", text, "client_id",
                     principal.client_id, "expires_in", json_sprintf("%u", lifetime), "expires_on",
                     json_sprintf("%lld", (long long)token.expires), "ext_expires_in",
                     json_sprintf("%u", lifetime), "not_before",
                     json_sprintf("%lld", (long long)now), "resource", resource, "token_type",
                     "Bearer"));
}

/* ---- the service ---- */

static void answer_versions(struct exchange *exchange)
{
    json_t *list = json_array();

    exchange->kind = "imds.versions";
    for (size_t i = 0; i < COUNT_OF(versions); i++)
        json_array_append_new(list, json_string(versions[i]));
    answer(exchange, 200, json_pack("{s:o}", "apiVersions", list));
}

/* Requests that came through a proxy are not from this machine. */
static bool is_local(struct exchange *exchange)
{
    const char *metadata = exchange_header(exchange, "Metadata");

    if (!metadata || strcasecmp(metadata, "true") != 0) {
        answer_invalid(exchange, "Required metadata header not specified");
        return false;
    }
    if (exchange_header(exchange, "X-Forwarded-For")) {
        answer_invalid(exchange, "X-Forwarded-For is not allowed");
        return false;
    }
    return true;
}

void imds_handle(struct exchange *exchange)
{
    static const char instance[] = "/metadata/instance";
    const struct vm *vm = vm_find_by_name(exchange->model, exchange->imds_vm);
    const char *path = exchange->call->path;

    exchange->kind = "imds";
    if (strcmp(exchange->call->method, "GET") != 0)
        answer(exchange, 405, NULL);
    else if (!is_local(exchange))
        return;
    else if (!vm)
        answer(exchange, 410, NULL);
    else if (strcasecmp(path, "/metadata/identity/oauth2/token") == 0)
        answer_token(exchange, vm);
    else if (strcasecmp(path, "/metadata/versions") == 0)
        answer_versions(exchange);
    else if (strncasecmp(path, instance, strlen(instance)) == 0)
        answer_instance(exchange, vm, path + strlen(instance));
    else
        answer(exchange, 404, json_pack("{s:s}", "error", "Not found"));
}
