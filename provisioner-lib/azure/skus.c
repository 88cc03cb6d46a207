#include "provisioner-lib/azure/skus.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/api/compute.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "provisioner-lib/azure/arm_list.h"
#include "lib/rt/wait.h"
#include "provisioner-lib/azure/azure_metrics.h"
#include "provisioner-lib/azure/sku_file.h"

enum {
    HOUR_MS = 60 * 60 * 1000,
    REFRESH_MS = 24 * HOUR_MS,
    RETRY_MS = 10 * 60 * 1000, /* after a failure */
};

enum source { SOURCE_NONE, SOURCE_AZURE, SOURCE_CACHE, SOURCE_BUILT_IN };

static const char *const source_names[] = {"none", "azure", "cache", "built-in"};

struct skus {
    struct task_group *group;
    struct arm_client *arm;
    char *cache_file; /* NULL: none */
    struct sku_facts facts;
    struct vm_sizes *refused; /* beyond which Azure refused a disk, whatever a list says */
    enum source source;
    uint64_t next; /* when to ask Azure again */
    bool loading;
    struct waiters changed;
};

struct skus *skus_new(struct task_group *group, struct arm_client *arm, const char *cache_file)
{
    struct skus *skus = mem_alloc(sizeof *skus);

    skus->group = group;
    skus->arm = arm;
    skus->cache_file = cache_file && *cache_file ? mem_strdup(cache_file) : NULL;
    sku_facts_init(&skus->facts);
    skus->refused = vm_sizes_new();
    waiters_init(&skus->changed);
    return skus;
}

void skus_free(struct skus *skus)
{
    if (!skus)
        return;
    sku_facts_fini(&skus->facts);
    vm_sizes_free(skus->refused);
    free(skus->cache_file);
    free(skus);
}

/* ---- from Azure ---- */

/* All values are texts. */
static int64_t number_of(const Arm__ResourceSku *sku, const char *name)
{
    for (size_t i = 0; i < sku->n_capabilities; i++) {
        const Arm__SkuCapability *capability = sku->capabilities[i];

        if (capability->name && capability->value && strcasecmp(capability->name, name) == 0)
            return strtoll(capability->value, NULL, 10);
    }
    return 0;
}

static unsigned bits_of(char *const *zones, size_t n)
{
    unsigned bits = 0;

    for (size_t i = 0; i < n; i++)
        bits |= 1U << (strtoul(zones[i], NULL, 10) & 7);
    return bits;
}

/* The list was asked for one location, and restrictions in it are the subscription's. */
static unsigned zones_of(const Arm__ResourceSku *sku)
{
    unsigned zones = 0;

    for (size_t i = 0; i < sku->n_location_info; i++)
        zones |= bits_of(sku->location_info[i]->zones, sku->location_info[i]->n_zones);
    for (size_t i = 0; i < sku->n_restrictions; i++) {
        const Arm__SkuRestrictionInfo *info = sku->restrictions[i]->restriction_info;

        if (info)
            zones &= ~bits_of(info->zones, info->n_zones);
    }
    return zones;
}

/* What does not fit stays too large, or negative. */
static int as_int(int64_t number)
{
    return number > INT_MAX ? INT_MAX : number < 0 ? -1 : (int)number;
}

/* Of kinds whose throughput goes with the size there is no choice, and IOPS have other names. */
static struct disk_limits limits_of(const Arm__ResourceSku *sku)
{
    return (struct disk_limits){
        .least_gib = number_of(sku, "MinSizeGiB"),
        .most_gib = number_of(sku, "MaxSizeGiB"),
        .max_shares = as_int(number_of(sku, "MaxValueOfMaxShares")),
        .least_iops = number_of(sku, "MinIOpsReadWrite"),
        .most_iops = number_of(sku, "MaxIOpsReadWrite"),
        .most_iops_per_gib = number_of(sku, "MaxIopsPerGiBReadWrite"),
        .least_mbps = number_of(sku, "MinBandwidthMBpsReadWrite"),
        .most_mbps = number_of(sku, "MaxBandwidthMBpsReadWrite"),
        .zones = zones_of(sku),
    };
}

static void take(struct sku_facts *facts, const Arm__ResourceSku *sku)
{
    if (!sku->name || !sku->resource_type)
        return;
    if (strcasecmp(sku->resource_type, "virtualMachines") == 0) {
        int64_t disks = number_of(sku, "MaxDataDiskCount");

        if (disks > 0)
            vm_sizes_set(facts->sizes, sku->name,
                         disks < CLOUD_MOST_SLOTS ? (int)disks : CLOUD_MOST_SLOTS);
    }
    if (strcasecmp(sku->resource_type, "disks") == 0) {
        struct disk_limits limits = limits_of(sku);

        if (!disk_kinds_add(facts->kinds, sku->name, &limits))
            log_debug("the SKU list contains invalid limits of %s disks", sku->name);
    }
}

static const char *take_page(void *ctx, const ProtobufCMessage *message)
{
    const Arm__ResourceSkusPage *page = (const Arm__ResourceSkusPage *)message;

    for (size_t i = 0; i < page->n_value; i++)
        take(ctx, page->value[i]);
    return page->next_link;
}

static struct err *ask_azure(struct task *self, struct skus *skus, struct sku_facts *facts)
{
    const struct azure_config *config = arm_client_config(skus->arm);
    CLEANUP(freep)
    char *path = mem_printf("/subscriptions/%s/providers/Microsoft.Compute/"
                            "skus?$filter=location%%20eq%%20%%27%s%%27",
                            config->subscription, config->location);

    return arm_list(self, skus->arm, &(struct arm_request){.kind = ARM_SKU_READ, .path = path},
                    &arm__resource_skus_page__descriptor, take_page, facts);
}

/* ---- from where it can be had ---- */

static uint64_t now_of(const struct skus *skus)
{
    return loop_now(skus->group->loop);
}

/* Takes the facts; NULL: those of before stay. */
static void use(struct skus *skus, const struct sku_facts *facts, enum source source, uint64_t next)
{
    if (facts) {
        sku_facts_fini(&skus->facts);
        skus->facts = *facts;
    }
    skus->source = source;
    skus->next = next;
    for (int i = SOURCE_AZURE; i <= SOURCE_BUILT_IN; i++)
        metric_set(&METRIC_AZURE_SKU_SOURCE, i == (int)source, source_names[i]);
}

/* A file that is fresh enough spares the question. */
static void use_file(struct task *self, struct skus *skus)
{
    const char *location = arm_client_config(skus->arm)->location;
    int64_t at_us = 0, now_us = loop_wall_us(skus->group->loop);
    struct sku_facts facts;

    if (!skus->cache_file)
        return;
    CLEANUP(err_freep)
    struct err *err = sku_file_read(self, skus->cache_file, location, &facts, &at_us);
    if (err) {
        log_debug("no saved list of SKUs: %s", err_message(err));
        return;
    }
    uint64_t age_ms = now_us > at_us ? (uint64_t)(now_us - at_us) / 1000 : 0;
    use(skus, &facts, SOURCE_CACHE, now_of(skus) + (age_ms < REFRESH_MS ? REFRESH_MS - age_ms : 0));
}

static void keep(const struct skus *skus)
{
    const char *location = arm_client_config(skus->arm)->location;

    if (!skus->cache_file)
        return;
    CLEANUP(err_freep)
    struct err *err =
        sku_file_write(skus->cache_file, location, &skus->facts, loop_wall_us(skus->group->loop));
    if (err)
        log_warning("saving the list of SKUs for the next start failed: %s", err_message(err));
}

/* Never fails, except that the process is to end. */
static struct err *refresh(struct task *self, struct skus *skus)
{
    struct sku_facts facts;

    sku_facts_init(&facts);
    struct err *err = ask_azure(self, skus, &facts);
    if (!err) {
        use(skus, &facts, SOURCE_AZURE, now_of(skus) + REFRESH_MS);
        keep(skus);
        return NULL;
    }
    sku_facts_fini(&facts);
    if (err_kind(err) == ERR_CANCELED)
        return err;
    use(skus, NULL, skus->source == SOURCE_NONE ? SOURCE_BUILT_IN : skus->source,
        now_of(skus) + RETRY_MS);
    log_warning("cannot read Azure's list of VM sizes and disks, using %s: %s",
                skus->source == SOURCE_BUILT_IN ? "the built-in table" : "the last list",
                err_message(err));
    err_free(err);
    return NULL;
}

/* ---- asking ---- */

/* A task of its own: it goes on when whoever asked gives up. */
static void load(struct task *self, void *arg)
{
    struct skus *skus = arg;

    if (skus->source == SOURCE_NONE)
        use_file(self, skus);
    if (skus->next <= now_of(skus))
        err_free(refresh(self, skus));
    skus->loading = false;
    waiters_wake(&skus->changed);
}

/* Only who comes before anything is known has to wait. */
static struct err *load_once(struct task *self, struct skus *skus)
{
    do {
        if (!skus->loading && skus->next <= now_of(skus))
            skus->loading = group_spawn(skus->group, "SKUs", load, skus);
        if (skus->source != SOURCE_NONE)
            return NULL;
        if (!skus->loading)
            return err_new(ERR_CANCELED, "no list of SKUs: this process is shutting down");
        TRY(wait_for_change(self, &skus->changed, TIMER_NEVER));
    } while (skus->source == SOURCE_NONE);
    return NULL;
}

struct err *skus_max_data_disks(struct task *self, struct skus *skus, const char *vm_size,
                                int *ret_count, enum cloud_source *ret_source)
{
    TRY(load_once(self, skus));
    *ret_source = CLOUD_REFUSED;
    if (vm_sizes_find(skus->refused, vm_size, ret_count))
        return NULL;
    *ret_source = skus->source == SOURCE_AZURE ? CLOUD_TOLD : CLOUD_KEPT;
    if (vm_sizes_find(skus->facts.sizes, vm_size, ret_count))
        return NULL;
    *ret_source = CLOUD_BUILT_IN;
    if (vm_sizes_built_in(vm_size, ret_count))
        return NULL;
    return err_new(ERR_NOT_FOUND, "VM size %s is unknown", vm_size);
}

void skus_note_refusal(struct skus *skus, const char *vm_size, int count)
{
    log_info("Azure allows a VM of size %s no more than %d data disks", vm_size, count);
    vm_sizes_set(skus->refused, vm_size, count);
}

struct err *skus_disk_limits(struct task *self, struct skus *skus, const char *kind,
                             int64_t size_gib, struct disk_limits *ret)
{
    TRY(load_once(self, skus));
    if (!disk_kinds_find(skus->facts.kinds, kind, size_gib, ret))
        disk_limits_built_in(kind, size_gib, ret);
    return NULL;
}
