#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "test/azsim/arm/api_version.h"
#include "test/azsim/arm/handlers.h"
#include "test/azsim/model/access.h"

/* ---- how a disk looks ---- */

static void add_owners(json_t *json, json_t *properties, const struct disk *disk)
{
    json_t *all = json_array(), *shares = json_array();
    json_t *vm;
    size_t i;

    json_array_foreach(disk->shown.vms, i, vm) {
        json_t *id = vm_id_json(disk->model, json_string_value(vm));

        json_array_append_new(all, id);
        json_array_append_new(shares, json_pack("{s:O}", "vmUri", id));
    }
    if (json_array_size(all) > 0)
        json_object_set(json, "managedBy", json_array_get(all, 0));
    if (json_array_size(all) > 0 && disk->spec.max_shares > 1) {
        json_object_set(json, "managedByExtended", all);
        json_object_set(properties, "shareInfo", shares);
    }
    json_decref(all);
    json_decref(shares);
}

/* What Azure knows once the disk is made. */
static void add_facts(json_t *properties, const struct disk *disk)
{
    const struct disk_spec *spec = &disk->spec;

    json_object_set_new(properties, "diskSizeBytes", json_integer(spec->size_gib << 30));
    json_object_set_new(properties, "diskIOPSReadWrite", json_integer(spec->iops));
    json_object_set_new(properties, "diskMBpsReadWrite", json_integer(spec->mbps));
    if (spec->tier)
        json_object_set_new(properties, "tier", json_string(spec->tier));
    json_object_set_new(properties, "timeCreated", azure_time_json(disk->created_us));
    json_object_set_new(properties, "uniqueId", json_string(disk->unique_id));
    json_object_set_new(
        properties, "diskState",
        json_string(disk_is_accessed(disk) ? "ActiveSAS" : disk_state_name(disk->shown.state)));
    if (disk->owned_us)
        json_object_set_new(properties, "LastOwnershipUpdateTime", azure_time_json(disk->owned_us));
}

json_t *disk_json(const struct disk *disk)
{
    json_t *json = json_pack("{s:s, s:s, s:s}", "name", disk->name, "id", disk->id, "type",
                             "Microsoft.Compute/disks");
    json_t *properties = json_copy(json_object_get(disk->body, "properties"));
    bool creating = disk->operation && disk->operation->kind == OPERATION_DISK_CREATE;

    json_object_update(json, disk->body);
    json_object_set_new(json, "properties", properties);
    json_object_set_new(
        json, "sku",
        json_pack("{s:s, s:s}", "name", disk->spec.sku->name, "tier", disk->spec.sku->tier));
    json_object_set_new(properties, "provisioningState",
                        json_string(provisioning_name(disk_provisioning(disk))));
    if (!creating)
        add_facts(properties, disk);
    if (disk->copy.end_us)
        json_object_set_new(properties, "completionPercent",
                            json_real(copy_percent(&disk->copy, model_now_us(disk->model))));
    add_owners(json, properties, disk);
    return json;
}

/* ---- handlers ---- */

static struct disk *find(struct exchange *exchange)
{
    CLEANUP(freep)
    char *id = group_resource_id(exchange->group, "disks", exchange->match.name);
    CLEANUP(freep) char *key = resource_key(id);

    return disk_find(exchange->model, key);
}

static void answer_not_found(struct exchange *exchange)
{
    answer_gateway(
        exchange, refuse(RESOURCE_NOT_FOUND, "disks", exchange->match.name, exchange->match.group));
}

static void answer_accepted(struct exchange *exchange, struct refusal *refusal,
                            const struct disk *disk, const struct operation *operation)
{
    if (refusal) {
        answer_refusal(exchange, refusal);
        return;
    }
    operation_headers(exchange, operation, true);
    answer(exchange, 202, disk ? disk_json(disk) : NULL);
}

void disks_put(struct exchange *exchange)
{
    struct operation *operation = NULL;
    struct disk *disk = NULL;
    json_t *body;

    if (!exchange_body(exchange, &body))
        return;
    api_version_modernize(body);
    struct refusal *refusal = api_version_check(exchange, "Microsoft.Compute/disks", body);
    if (!refusal)
        refusal = disk_put(exchange->model, exchange->group, exchange->match.name, body, &disk,
                           &operation);
    json_decref(body);
    answer_accepted(exchange, refusal, disk, operation);
}

void disks_patch(struct exchange *exchange)
{
    struct disk *disk = find(exchange);
    struct operation *operation = NULL;
    json_t *body;

    if (!disk) {
        answer_not_found(exchange);
        return;
    }
    if (!exchange_body(exchange, &body))
        return;
    struct refusal *refusal = api_version_check(exchange, "Microsoft.Compute/disks", body);
    if (!refusal)
        refusal = disk_patch(disk, body, &operation);
    json_decref(body);
    answer_accepted(exchange, refusal, disk, operation);
}

void disks_get(struct exchange *exchange)
{
    const struct disk *disk = find(exchange);

    if (disk)
        answer(exchange, 200, disk_json(disk));
    else
        answer_not_found(exchange);
}

void disks_delete(struct exchange *exchange)
{
    struct disk *disk = find(exchange);
    struct operation *operation = NULL;

    if (!disk) {
        answer(exchange, 204, NULL);
        return;
    }
    struct refusal *refusal = disk_delete(disk, &operation);
    answer_accepted(exchange, refusal, NULL, operation);
}

void disks_begin_get_access(struct exchange *exchange)
{
    struct disk *disk = find(exchange);
    struct operation *operation = NULL;
    json_t *body;

    if (!disk) {
        answer_not_found(exchange);
        return;
    }
    if (!exchange_body(exchange, &body))
        return;
    struct refusal *refusal = disk_grant_access(disk, body, &operation);
    json_decref(body);
    answer_accepted(exchange, refusal, NULL, operation);
}

void disks_end_get_access(struct exchange *exchange)
{
    struct disk *disk = find(exchange);
    struct operation *operation = NULL;

    if (!disk) {
        answer_not_found(exchange);
        return;
    }
    struct refusal *refusal = disk_revoke_access(disk, &operation);
    answer_accepted(exchange, refusal, NULL, operation);
}

void disks_list(struct exchange *exchange)
{
    uint64_t after = exchange_page_after(exchange), last = 0, next = 0;
    json_t *items = json_array();

    HASH_FOREACH(exchange->model->disks, disk) {
        if (disk->sequence <= after || !exchange_lists(exchange, disk->group))
            continue;
        if (json_array_size(items) == exchange->model->settings.page_size) {
            next = last;
            break;
        }
        json_array_append_new(items, disk_json(disk));
        last = disk->sequence;
    }
    answer_page(exchange, items, next);
}
