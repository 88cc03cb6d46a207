/* What there may be of everything in a location, and which sizes of VMs. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/arm/handlers.h"

/* Azure's default quotas; of disks and snapshots, those of the model. */
enum { MAX_CORES = 100000, MAX_SCALE_SETS = 2500, MAX_AVAILABILITY_SETS = 2500 };

static void add_usage(json_t *list, const char *name, const char *title, long long used,
                      long long limit)
{
    json_array_append_new(list,
                          json_pack("{s:s, s:I, s:I, s:{s:s, s:s}}", "unit", "Count",
                                    "currentValue", (json_int_t)used, "limit", (json_int_t)limit,
                                    "name", "value", name, "localizedValue", title));
}

/* Cores of one family of sizes; of all for NULL. */
static long long cores(const struct exchange *exchange, const char *family)
{
    long long n = 0;

    HASH_FOREACH(exchange->model->vms, vm) {
        if (vm->group->subscription == exchange->subscription &&
            (!family || strcmp(vm->size->family, family) == 0))
            n += vm->size->vcpus;
    }
    return n;
}

static void add_families(const struct exchange *exchange, json_t *list)
{
    const char *last = "";
    size_t n;
    const struct vm_size *sizes = vm_sizes(&n);

    for (size_t i = 0; i < n; i++) { /* they are in order of their families */
        if (strcmp(sizes[i].family, last) == 0)
            continue;
        last = sizes[i].family;
        add_usage(list, last, last, cores(exchange, last), MAX_CORES);
    }
}

static void add_disks(const struct exchange *exchange, json_t *list)
{
    size_t n;
    const struct disk_sku *skus = disk_skus(&n);

    for (size_t i = 0; i < n; i++) {
        CLEANUP(freep) char *kind = mem_strndup(skus[i].name, strcspn(skus[i].name, "_"));
        CLEANUP(freep)
        char *name = mem_printf("%s%sDiskCount", kind, skus[i].zone_redundant ? "ZRS" : "");
        long long used = 0;

        HASH_FOREACH(exchange->model->disks, disk) {
            used += disk->group->subscription == exchange->subscription &&
                    disk->spec.sku == &skus[i] &&
                    model_location_is(exchange->model, disk_location(disk));
        }
        add_usage(list, name, name, used, MODEL_MAX_DISKS);
    }
}

/* Everything of the subscription in the region of its VMs, the only one that can be asked. */
void usages_list(struct exchange *exchange)
{
    const struct model *model = exchange->model;
    json_t *list = json_array();
    long long vms = 0, sets = 0, snapshots = 0;

    HASH_FOREACH(model->vms, vm) {
        vms += vm->group->subscription == exchange->subscription;
    }
    HASH_FOREACH(model->scale_sets, set) {
        sets += set->group->subscription == exchange->subscription;
    }
    HASH_FOREACH(model->snapshots, snapshot) {
        snapshots += snapshot->group->subscription == exchange->subscription &&
                     model_location_is(model, snapshot_location(snapshot));
    }
    add_usage(list, "availabilitySets", "Availability Sets", 0, MAX_AVAILABILITY_SETS);
    add_usage(list, "cores", "Total Regional vCPUs", cores(exchange, NULL), MAX_CORES);
    add_usage(list, "virtualMachines", "Virtual Machines", vms, MODEL_MAX_VMS);
    add_usage(list, "virtualMachineScaleSets", "Virtual Machine Scale Sets", sets, MAX_SCALE_SETS);
    add_families(exchange, list);
    add_disks(exchange, list);
    add_usage(list, "StandardSnapshotCount", "Standard Snapshots", snapshots, MODEL_MAX_SNAPSHOTS);
    answer_page(exchange, list, 0);
}

static json_t *size_json(const struct vm_size *size)
{
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i}", "name", size->name, "numberOfCores",
                     (int)size->vcpus, "osDiskSizeInMB", 1047552, "resourceDiskSizeInMB", 0,
                     "memoryInMB", (int)(strtol(size->memory_gb, NULL, 10) * 1024),
                     "maxDataDiskCount", (int)size->max_data_disks);
}

void vm_sizes_list(struct exchange *exchange)
{
    json_t *items = json_array();
    size_t n;
    const struct vm_size *sizes = vm_sizes(&n);

    for (size_t i = 0; i < n; i++)
        json_array_append_new(items, size_json(&sizes[i]));
    answer_page(exchange, items, 0);
}
