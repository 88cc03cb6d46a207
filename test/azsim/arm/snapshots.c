#include "test/azsim/model/snapshot.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/arm/api_version.h"
#include "test/azsim/arm/handlers.h"
#include "test/azsim/model/access.h"

/* ---- how a snapshot looks ---- */

static json_t *copy_error_json(void)
{
    return json_pack("{s:s, s:s}", "errorCode", "CopySourceNotFound", "errorMessage",
                     "The source of the copy was not found.");
}

static const char *access_state(const struct snapshot *snapshot)
{
    int64_t now = model_now_us(snapshot->model);
    bool done = copy_is_done(&snapshot->copy, now);

    if (now < snapshot_instant_until_us(snapshot))
        return done ? "AvailableWithInstantAccess" : "InstantAccess";
    return done ? "Available" : "Pending";
}

/* What Azure knows once the snapshot is made. */
static void add_facts(json_t *properties, const struct snapshot *snapshot)
{
    int64_t now = model_now_us(snapshot->model);

    json_object_set_new(properties, "diskSizeGB", json_integer(snapshot->size_gib));
    json_object_set_new(properties, "diskSizeBytes", json_integer(snapshot->size_gib << 30));
    json_object_set_new(properties, "timeCreated", azure_time_json(snapshot->created_us));
    json_object_set_new(properties, "uniqueId", json_string(snapshot->unique_id));
    json_object_set_new(properties, "diskState",
                        json_string(snapshot_is_accessed(snapshot) ? "ActiveSAS" : "Unattached"));
    json_object_set_new(properties, "snapshotAccessState", json_string(access_state(snapshot)));
    if (snapshot->incremental) {
        json_object_set_new(properties, "incrementalSnapshotFamilyId",
                            json_string(snapshot->family_id));
        json_object_set_new(properties, "completionPercent",
                            json_real(copy_percent(&snapshot->copy, now)));
    }
    if (snapshot->copy.stopped_us)
        json_object_set_new(properties, "copyCompletionError", copy_error_json());
}

json_t *snapshot_json(const struct snapshot *snapshot)
{
    json_t *json = json_pack("{s:s, s:s, s:s}", "name", snapshot->name, "id", snapshot->id, "type",
                             "Microsoft.Compute/snapshots");
    json_t *properties = json_copy(json_object_get(snapshot->body, "properties"));
    bool creating = snapshot->operation && snapshot->operation->kind == OPERATION_SNAPSHOT_CREATE;

    json_object_update(json, snapshot->body);
    json_object_set_new(json, "properties", properties);
    json_object_set_new(json, "sku",
                        json_pack("{s:s, s:s}", "name", snapshot->sku, "tier", snapshot->tier));
    json_object_set_new(properties, "provisioningState",
                        json_string(provisioning_name(snapshot_provisioning(snapshot))));
    if (!creating)
        add_facts(properties, snapshot);
    return json;
}

/* ---- handlers ---- */

static struct snapshot *find(struct exchange *exchange)
{
    CLEANUP(freep)
    char *id = group_resource_id(exchange->group, "snapshots", exchange->match.name);
    CLEANUP(freep) char *key = resource_key(id);

    return snapshot_find(exchange->model, key);
}

static void answer_not_found(struct exchange *exchange)
{
    answer_gateway(exchange, refuse(RESOURCE_NOT_FOUND, "snapshots", exchange->match.name,
                                    exchange->match.group));
}

static void answer_accepted(struct exchange *exchange, struct refusal *refusal,
                            const struct snapshot *snapshot, const struct operation *operation)
{
    if (refusal) {
        answer_refusal(exchange, refusal);
        return;
    }
    operation_headers(exchange, operation, true);
    answer(exchange, 202, snapshot ? snapshot_json(snapshot) : NULL);
}

void snapshots_put(struct exchange *exchange)
{
    struct operation *operation = NULL;
    struct snapshot *snapshot = NULL;
    json_t *body;

    if (!exchange_body(exchange, &body))
        return;
    api_version_modernize(body);
    struct refusal *refusal = api_version_check(exchange, "Microsoft.Compute/snapshots", body);
    if (!refusal)
        refusal = snapshot_put(exchange->model, exchange->group, exchange->match.name, body,
                               &snapshot, &operation);
    json_decref(body);
    answer_accepted(exchange, refusal, snapshot, operation);
}

void snapshots_patch(struct exchange *exchange)
{
    struct snapshot *snapshot = find(exchange);
    struct operation *operation = NULL;
    json_t *body;

    if (!snapshot) {
        answer_not_found(exchange);
        return;
    }
    if (!exchange_body(exchange, &body))
        return;
    struct refusal *refusal = api_version_check(exchange, "Microsoft.Compute/snapshots", body);
    if (!refusal)
        refusal = snapshot_patch(snapshot, body, &operation);
    json_decref(body);
    answer_accepted(exchange, refusal, snapshot, operation);
}

void snapshots_get(struct exchange *exchange)
{
    const struct snapshot *snapshot = find(exchange);

    if (snapshot)
        answer(exchange, 200, snapshot_json(snapshot));
    else
        answer_not_found(exchange);
}

void snapshots_delete(struct exchange *exchange)
{
    struct snapshot *snapshot = find(exchange);
    struct operation *operation = NULL;

    if (!snapshot) {
        answer(exchange, 204, NULL);
        return;
    }
    struct refusal *refusal = snapshot_delete(snapshot, &operation);
    answer_accepted(exchange, refusal, NULL, operation);
}

void snapshots_begin_get_access(struct exchange *exchange)
{
    struct snapshot *snapshot = find(exchange);
    struct operation *operation = NULL;
    json_t *body;

    if (!snapshot) {
        answer_not_found(exchange);
        return;
    }
    if (!exchange_body(exchange, &body))
        return;
    struct refusal *refusal = snapshot_grant_access(snapshot, body, &operation);
    json_decref(body);
    answer_accepted(exchange, refusal, NULL, operation);
}

void snapshots_end_get_access(struct exchange *exchange)
{
    struct snapshot *snapshot = find(exchange);
    struct operation *operation = NULL;

    if (!snapshot) {
        answer_not_found(exchange);
        return;
    }
    struct refusal *refusal = snapshot_revoke_access(snapshot, &operation);
    answer_accepted(exchange, refusal, NULL, operation);
}

void snapshots_list(struct exchange *exchange)
{
    uint64_t after = exchange_page_after(exchange), last = 0, next = 0;
    json_t *items = json_array();

    HASH_FOREACH(exchange->model->snapshots, snapshot) {
        if (snapshot->sequence <= after || !exchange_lists(exchange, snapshot->group))
            continue;
        if (json_array_size(items) == exchange->model->settings.page_size) {
            next = last;
            break;
        }
        json_array_append_new(items, snapshot_json(snapshot));
        last = snapshot->sequence;
    }
    answer_page(exchange, items, next);
}
