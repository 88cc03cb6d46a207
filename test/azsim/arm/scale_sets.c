#include "test/azsim/model/scale_set.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/arm/api_version.h"
#include "test/azsim/arm/handlers.h"

/* ---- how a scale set looks ---- */

/* The zones that its VMs are in; NULL: none. */
static json_t *zones_json(const struct scale_set *set)
{
    bool has[10] = {false};
    json_t *zones = NULL;

    HASH_FOREACH(set->model->vms, vm) {
        if (vm->scale_set == set && *vm->spec.zone)
            has[vm->spec.zone[0] - '0'] = true;
    }
    for (int zone = 0; zone < 10; zone++) {
        if (!has[zone])
            continue;
        if (!zones)
            zones = json_array();
        json_array_append_new(zones, json_sprintf("%d", zone));
    }
    return zones;
}

json_t *scale_set_json(const struct scale_set *set)
{
    const char *state = set->is_deleting ? "Deleting" : set->is_updating ? "Updating" : "Succeeded";
    json_t *json = json_deep_copy(set->body);
    json_t *properties = json_object_get(json, "properties");
    json_t *own = json_pack("{s:s, s:s, s:s, s:i, s:o}", "orchestrationMode",
                            set->uniform ? "Uniform" : "Flexible", "provisioningState", state,
                            "uniqueId", set->unique_id, "platformFaultDomainCount", 1,
                            "timeCreated", azure_time_json(set->created_us));

    if (set->uniform)
        json_object_set_new(own, "upgradePolicy", json_pack("{s:s}", "mode", "Manual"));
    if (!properties) {
        properties = json_object();
        json_object_set_new(json, "properties", properties);
    }
    json_object_update_new(properties, own);
    json_object_update_new(
        json, json_pack("{s:s, s:s, s:s, s:s, s:o, s:o*, s:{s:s, s:s, s:i}}", "name", set->name,
                        "id", set->id, "type", "Microsoft.Compute/virtualMachineScaleSets",
                        "location", set->model->location, "etag", json_sprintf("\"%u\"", set->etag),
                        "zones", zones_json(set), "sku", "name", set->size->name, "tier",
                        "Standard", "capacity", (int)set->capacity));
    return json;
}

/* How many of its VMs are in each state. */
static json_t *summary_json(const struct scale_set *set)
{
    json_t *list = json_array();

    for (int i = 0; i <= PROVISIONING_FAILED; i++) {
        CLEANUP(freep) char *name = mem_lower(provisioning_name((enum provisioning)i));
        int n = 0;

        HASH_FOREACH(set->model->vms, vm) {
            n += vm->scale_set == set && (int)vm_provisioning(vm) == i;
        }
        if (n > 0)
            json_array_append_new(list, json_pack("{s:o, s:i}", "code",
                                                  json_sprintf("ProvisioningState/%s", name),
                                                  "count", n));
    }
    return list;
}

/* ---- handlers ---- */

struct scale_set *scale_set_find_of_path(const struct exchange *exchange)
{
    CLEANUP(freep)
    char *id = group_resource_id(exchange->group, "virtualMachineScaleSets", exchange->match.name);
    CLEANUP(freep) char *key = resource_key(id);

    return scale_set_find(exchange->model, key);
}

struct scale_set *scale_set_of_path(struct exchange *exchange)
{
    struct scale_set *set = scale_set_find_of_path(exchange);

    if (!set)
        answer_gateway(exchange, refuse(RESOURCE_NOT_FOUND, "virtualMachineScaleSets",
                                        exchange->match.name, exchange->match.group));
    return set;
}

void scale_sets_get(struct exchange *exchange)
{
    const struct scale_set *set = scale_set_of_path(exchange);

    if (!set)
        return;
    if (strcmp(exchange->api_version, ETAG_SINCE) >= 0)
        answer_header(exchange, "ETag", "\"%u\"", set->etag);
    answer(exchange, 200, scale_set_json(set));
}

void scale_sets_list(struct exchange *exchange)
{
    uint64_t after = exchange_page_after(exchange), last = 0, next = 0;
    json_t *items = json_array();

    HASH_FOREACH(exchange->model->scale_sets, set) {
        if (set->sequence <= after || !exchange_lists(exchange, set->group))
            continue;
        if (json_array_size(items) == exchange->model->settings.page_size) {
            next = last;
            break;
        }
        json_array_append_new(items, scale_set_json(set));
        last = set->sequence;
    }
    answer_page(exchange, items, next);
}

/* ---- its sub-resources ---- */

void scale_sets_instance_view(struct exchange *exchange)
{
    const struct scale_set *set = scale_set_of_path(exchange);

    if (set)
        answer(exchange, 200,
               json_pack("{s:{s:o}, s:[{s:s, s:s, s:s, s:o}]}", "virtualMachine", "statusesSummary",
                         summary_json(set), "statuses", "code", "ProvisioningState/succeeded",
                         "level", "Info", "displayStatus", "Provisioning succeeded", "time",
                         azure_time_json(set->created_us)));
}

void scale_sets_skus(struct exchange *exchange)
{
    const struct scale_set *set = scale_set_of_path(exchange);

    if (set)
        answer_page(exchange,
                    json_pack("[{s:s, s:{s:s, s:s}, s:{s:i, s:i, s:i, s:s}}]", "resourceType",
                              "Microsoft.Compute/virtualMachineScaleSets", "sku", "name",
                              set->size->name, "tier", "Standard", "capacity", "minimum", 0,
                              "maximum", 1000, "defaultCapacity", 1, "scaleType", "Automatic"),
                    0);
}

void scale_sets_os_upgrade_history(struct exchange *exchange)
{
    if (scale_set_of_path(exchange))
        answer_page(exchange, json_array(), 0);
}
