#include <stdio.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/arm/handlers.h"

static void add_capability(json_t *list, const char *name, const char *value)
{
    json_array_append_new(list, json_pack("{s:s, s:s}", "name", name, "value", value));
}

static void add_number(json_t *list, const char *name, int64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)value);
    add_capability(list, name, text);
}

/* A row of the list; takes the capabilities. */
static json_t *row(const struct model *model, const char *type, const char *name, const char *tier,
                   const char *size, json_t *capabilities)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:[s], s:[{s:s, s:[s,s,s], s:[]}], s:o, s:[]}",
                     "resourceType", type, "name", name, "tier", tier, "size", size, "locations",
                     model->location, "locationInfo", "location", model->location, "zones", "1",
                     "2", "3", "zoneDetails", "capabilities", capabilities, "restrictions");
}

static json_t *vm_row(const struct model *model, const struct vm_size *size)
{
    json_t *list = json_array();

    add_number(list, "vCPUs", size->vcpus);
    add_number(list, "vCPUsAvailable", size->vcpus);
    add_capability(list, "MemoryGB", size->memory_gb);
    add_number(list, "MaxDataDiskCount", size->max_data_disks);
    add_capability(list, "CpuArchitectureType", "x64");
    add_capability(list, "HyperVGenerations", strstr(size->controllers, "SCSI") ? "V1,V2" : "V2");
    add_capability(list, "PremiumIO", size->premium ? "True" : "False");
    add_capability(list, "DiskControllerTypes", size->controllers);
    add_capability(list, "EncryptionAtHostSupported", "True");
    add_capability(list, "AcceleratedNetworkingEnabled", "True");

    json_t *json = row(model, "virtualMachines", size->name, "Standard",
                       size->name + strlen("Standard_"), list);
    json_object_set_new(json, "family", json_string(size->family));
    return json;
}

static void add_limits(json_t *list, int64_t least_gib, int64_t most_gib, unsigned shares)
{
    add_number(list, "MinSizeGiB", least_gib);
    add_number(list, "MaxSizeGiB", most_gib);
    add_number(list, "MaxValueOfMaxShares", shares);
}

/* Of disks that let their performance be chosen, in the members' own spelling. */
static void add_choice(json_t *list, const struct disk_sku *sku)
{
    bool ultra = sku->family == DISK_ULTRA;

    add_number(list, "MinIOpsReadWrite", ultra ? 100 : 3000);
    add_number(list, "MaxIOpsReadWrite", ultra ? 400000 : 80000);
    add_number(list, "MaxIopsPerGiBReadWrite", ultra ? 1000 : 500);
    add_number(list, "MinBandwidthMBpsReadWrite", ultra ? 1 : 125);
    add_number(list, "MaxBandwidthMBpsReadWrite", ultra ? 10000 : 2000);
    add_number(list, "MinIOSizeKiBps", 4);
    add_number(list, "MaxIOSizeKiBps", 256);
}

/* One row for each step of the SKU; each begins with the last size of the one below. */
static void add_steps(json_t *rows, const struct model *model, const struct disk_sku *sku)
{
    size_t n;
    const struct disk_step *steps = disk_steps(&n);
    int64_t least = 1;

    for (size_t i = 0; i < n; i++) {
        const char *name = disk_step_name(sku, &steps[i]);
        json_t *list;
        int64_t iops, mbps;

        if (!name)
            continue;
        list = json_array();
        disk_performance(sku, steps[i].gib, &iops, &mbps);
        add_limits(list, least, steps[i].gib, disk_max_shares(sku, steps[i].gib));
        add_number(list, "MinIOps", iops);
        add_number(list, "MaxIOps", iops);
        add_number(list, "MinBandwidthMBps", mbps);
        add_number(list, "MaxBandwidthMBps", mbps);
        json_array_append_new(rows, row(model, "disks", sku->name, sku->tier, name, list));
        least = steps[i].gib;
    }
}

static void add_disk_rows(json_t *rows, const struct model *model, const struct disk_sku *sku)
{
    json_t *list;

    if (!disk_performance_is_settable(sku)) {
        add_steps(rows, model, sku);
        return;
    }
    list = json_array();
    add_limits(list, sku->least_gib, sku->most_gib, sku->max_shares);
    add_choice(list, sku);
    json_array_append_new(rows, row(model, "disks", sku->name, sku->tier,
                                    sku->family == DISK_ULTRA ? "U" : "P", list));
}

/* The location in a filter such as "location eq 'eastus'"; NULL if there is no filter. */
static char *filter_location(const struct exchange *exchange)
{
    const char *filter = exchange_argument(exchange, "$filter");
    const char *quote = filter ? strchr(filter, '\'') : NULL;

    return quote ? mem_strndup(quote + 1, strcspn(quote + 1, "'")) : NULL;
}

void skus_list(struct exchange *exchange)
{
    CLEANUP(freep) char *location = filter_location(exchange);
    json_t *rows = json_array();
    size_t n_sizes, n_skus;
    const struct vm_size *sizes = vm_sizes(&n_sizes);
    const struct disk_sku *skus = disk_skus(&n_skus);

    if (location && !model_location_is(exchange->model, location))
        n_sizes = n_skus = 0;
    for (size_t i = 0; i < n_sizes; i++)
        json_array_append_new(rows, vm_row(exchange->model, &sizes[i]));
    for (size_t i = 0; i < n_skus; i++)
        add_disk_rows(rows, exchange->model, &skus[i]);
    answer_page(exchange, rows, 0);
}
