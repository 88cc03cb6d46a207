#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "test/azsim/arm/handlers.h"
#include "test/azsim/model/access.h"

/* Azure's operation URLs carry a certificate and are more than 5 kB long. */
enum { CERTIFICATE_LENGTH = 5200, TERSE_CERTIFICATE_LENGTH = 64 };

enum { GROUP_RETRY_AFTER_S = 15 };

/* .NET's ticks of 100 ns begin in year 1. */
static const int64_t SECONDS_TO_YEAR_1 = 62135596800;

/* ---- URLs ---- */

/* Something as long as the real thing. */
static char *certificate(bool terse)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t length = terse ? TERSE_CERTIFICATE_LENGTH : CERTIFICATE_LENGTH;
    char *text = mem_alloc(length + 1);
    uint32_t noise = 1;

    for (size_t i = 0; i < length; i++) {
        noise = noise * 1664525 + 1013904223;
        text[i] = alphabet[noise >> 26];
    }
    return text;
}

/* The collection that it is in. */
static const char *path_of(const struct operation *operation)
{
    switch (operation_owner(operation)) {
    case OPERATION_OF_VM:
    case OPERATION_OF_SCALE_SET:
        return "operations";
    case OPERATION_OF_DISK:
    case OPERATION_OF_SNAPSHOT:
        return "DiskOperations";
    case OPERATION_OF_GROUP:
        return "operationresults";
    }
    abort();
}

/* The one for disks and snapshots, which says more of its operations than the one for VMs. */
static bool is_of_disk_provider(const struct operation *operation)
{
    return operation_owner(operation) == OPERATION_OF_DISK ||
           operation_owner(operation) == OPERATION_OF_SNAPSHOT;
}

/* Below the subscription: those of Resource Manager itself have no provider. */
static char *full_path(const struct exchange *exchange, const struct operation *operation)
{
    return operation_owner(operation) == OPERATION_OF_GROUP
               ? mem_printf("%s/%s", path_of(operation), operation->id)
               : mem_printf("providers/Microsoft.Compute/locations/%s/%s/%s",
                            exchange->model->location, path_of(operation), operation->id);
}

/* What the seal of an operation's URL covers. */
static char *sealed_part(const struct operation *operation, const char *query, size_t length)
{
    return mem_printf("%s/%s?%.*s", path_of(operation), operation->id, (int)length, query);
}

static char *url(const struct exchange *exchange, const struct operation *operation, bool monitor)
{
    const struct seal_key *key = &exchange->config->key;
    CLEANUP(freep) char *base = exchange_base(exchange);
    CLEANUP(freep) char *long_text = certificate(exchange->config->terse);
    CLEANUP(freep)
    char *query =
        mem_printf("p=%s%s&api-version=%s&t=%lld&c=%s", exchange->subscription->id,
                   monitor ? "&monitor=true" : "", exchange->api_version,
                   (long long)(operation->start_us + SECONDS_TO_YEAR_1 * 1000000) * 10, long_text);
    CLEANUP(freep) char *sealed = sealed_part(operation, query, strlen(query));
    char seal[SEAL_SIZE], hash[SEAL_SIZE];

    seal_make(key, sealed, strlen(sealed), seal);
    seal_make(key, operation->id, strlen(operation->id), hash);
    CLEANUP(freep) char *path = full_path(exchange, operation);
    return mem_printf("%s/subscriptions/%s/%s?%s&s=%s&h=%s", base, exchange->subscription->id, path,
                      query, seal, hash);
}

/* A URL that was shortened, reordered or encoded anew does not match any more. */
static bool url_is_ours(const struct exchange *exchange, const struct operation *operation)
{
    const char *query = exchange->call->query, *seal = strstr(query, "&s=");

    if (!seal)
        return false;
    CLEANUP(freep) char *sealed = sealed_part(operation, query, (size_t)(seal - query));
    CLEANUP(freep) char *given = mem_strndup(seal + 3, strcspn(seal + 3, "&"));
    return seal_matches(&exchange->config->key, sealed, strlen(sealed), given);
}

/* Disks and VMs say none; Resource Manager always does. */
static void add_retry_after(struct exchange *exchange, const struct operation *operation)
{
    unsigned own = operation_owner(operation) == OPERATION_OF_GROUP ? GROUP_RETRY_AFTER_S : 0;
    unsigned seconds = exchange->config->retry_after_s ? exchange->config->retry_after_s : own;

    if (seconds)
        answer_header(exchange, "Retry-After", "%u", seconds);
}

void operation_headers(struct exchange *exchange, const struct operation *operation, bool location)
{
    if (operation_owner(operation) != OPERATION_OF_GROUP) {
        CLEANUP(freep) char *status = url(exchange, operation, false);

        answer_header(exchange, "Azure-AsyncOperation", "%s", status);
    }
    if (operation_owner(operation) == OPERATION_OF_VM)
        answer_header(exchange, "azure-asyncnotification", "Enabled");
    if (location) {
        CLEANUP(freep) char *result = url(exchange, operation, true);

        answer_header(exchange, "Location", "%s", result);
    }
    add_retry_after(exchange, operation);
}

/* ---- polling ---- */

/* What an operation leads to: the resource; NULL if it leads to nothing, or that is gone. */
static json_t *result_json(const struct operation *operation)
{
    const struct disk *disk = disk_find(operation->model, operation->target);
    const struct snapshot *snapshot = snapshot_find(operation->model, operation->target);
    const struct vm *vm = vm_find(operation->model, operation->target);
    const struct scale_set *set = scale_set_find(operation->model, operation->target);

    switch (operation->kind) {
    case OPERATION_DISK_CREATE:
    case OPERATION_DISK_UPDATE:
        return disk ? disk_json(disk) : NULL;
    case OPERATION_DISK_GRANT:
        return disk ? access_json(disk->unique_id, disk->access_until_us) : NULL;
    case OPERATION_SNAPSHOT_GRANT:
        return snapshot ? access_json(snapshot->unique_id, snapshot->access_until_us) : NULL;
    case OPERATION_SNAPSHOT_CREATE:
    case OPERATION_SNAPSHOT_UPDATE:
        return snapshot ? snapshot_json(snapshot) : NULL;
    case OPERATION_SCALE_SET_UPDATE:
        return set ? scale_set_json(set) : NULL;
    case OPERATION_VM_UPDATE:
        return vm ? vm_json(vm) : NULL;
    case OPERATION_VM_ATTACH_DETACH:
        return vm ? vm_storage_profile_json(vm) : NULL;
    case OPERATION_VM_RUN_COMMAND:
        return vm_run_command_json();
    case OPERATION_VM_ASSESS_PATCHES:
    case OPERATION_VM_INSTALL_PATCHES:
        return vm_patches_json(operation);
    case OPERATION_DISK_DELETE:
    case OPERATION_DISK_REVOKE:
    case OPERATION_SNAPSHOT_DELETE:
    case OPERATION_SNAPSHOT_REVOKE:
    case OPERATION_VM_DELETE:
    case OPERATION_VM_START:
    case OPERATION_VM_POWER_OFF:
    case OPERATION_VM_DEALLOCATE:
    case OPERATION_VM_HIBERNATE:
    case OPERATION_VM_REAPPLY:
    case OPERATION_SCALE_SET_ACT:
    case OPERATION_SCALE_SET_DELETE:
    case OPERATION_GROUP_DELETE:
    case OPERATION_KIND_COUNT:
        return NULL;
    }
    abort();
}

static json_t *status_json(const struct operation *operation)
{
    json_t *json = json_object();
    bool tells = operation->status == OPERATION_SUCCEEDED && is_of_disk_provider(operation);
    json_t *result = tells ? result_json(operation) : NULL;

    json_object_set_new(json, "startTime", azure_time_json(operation->start_us));
    if (operation->status != OPERATION_IN_PROGRESS)
        json_object_set_new(json, "endTime", azure_time_json(operation->end_us));
    json_object_set_new(json, "status", json_string(operation_status_name(operation->status)));
    if (result)
        json_object_set_new(json, "properties", json_pack("{s:o}", "output", result));
    if (operation->refusal)
        json_object_set_new(json, "error", refusal_json(operation->refusal));
    json_object_set_new(json, "name", json_string(operation->id));
    return json;
}

/* Location: nothing until the end, then what the first answer would have been without one. */
static void answer_result(struct exchange *exchange, const struct operation *operation)
{
    const struct refusal *refusal = operation->refusal;

    if (operation->status == OPERATION_IN_PROGRESS) {
        CLEANUP(freep) char *again = url(exchange, operation, true);

        answer_header(exchange, "Location", "%s", again);
        add_retry_after(exchange, operation);
        answer(exchange, 202, NULL);
        return;
    }
    if (refusal) {
        answer(exchange, refusal->status, json_pack("{s:o}", "error", refusal_json(refusal)));
        return;
    }
    json_t *result = result_json(operation);
    bool ok = result || operation_owner(operation) == OPERATION_OF_GROUP;
    answer(exchange, ok ? 200 : 204, result);
}

void operations_get(struct exchange *exchange)
{
    const struct operation *operation = operation_find(exchange->model, exchange->match.operation);
    const char *collection = exchange->match.parts[exchange->match.n_parts - 2];

    if (!operation || !operation_is_of(operation, exchange->subscription) ||
        strcasecmp(collection, path_of(operation)) != 0) {
        answer_refusal(exchange, refuse(404, "NotFound", NULL, "The operation '%s' is not found.",
                                        exchange->match.operation));
        return;
    }
    if (!url_is_ours(exchange, operation)) {
        answer_refusal(exchange,
                       refuse(400, "BadRequest", NULL,
                              "The signature of the operation's URL is not valid. The URL has to "
                              "be used as it was given."));
        return;
    }
    if (exchange_argument(exchange, "monitor") ||
        operation_owner(operation) == OPERATION_OF_GROUP) {
        answer_result(exchange, operation);
        return;
    }
    if (operation->status == OPERATION_IN_PROGRESS)
        add_retry_after(exchange, operation);
    answer(exchange, 200, status_json(operation));
}
