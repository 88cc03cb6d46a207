#include "provisioner-lib/azure/skus.h"

#include <stdlib.h>
#include <string.h>

#include "lib/api/compute.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/rt/wait.h"
#include "provisioner-lib/azure/azure_metrics.h"
#include "provisioner-lib/azure/vm_sizes.h"

#define API_VERSION "2021-07-01"

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
    struct vm_sizes *sizes;
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
    skus->sizes = vm_sizes_new();
    waiters_init(&skus->changed);
    return skus;
}

void skus_free(struct skus *skus)
{
    if (!skus)
        return;
    vm_sizes_free(skus->sizes);
    free(skus->cache_file);
    free(skus);
}

/* ---- from Azure ---- */

static void take(struct vm_sizes *sizes, const Arm__ResourceSku *sku)
{
    if (!sku->name || !sku->resource_type || strcmp(sku->resource_type, "virtualMachines") != 0)
        return;
    for (size_t i = 0; i < sku->n_capabilities; i++) {
        const Arm__SkuCapability *capability = sku->capabilities[i];

        if (capability->name && capability->value &&
            strcmp(capability->name, "MaxDataDiskCount") == 0)
            vm_sizes_set(sizes, sku->name, (int)strtol(capability->value, NULL, 10));
    }
}

/* Where the next page is; a link into another cloud's hands is not followed. */
static struct err *next_path(const struct skus *skus, const char *link, char **ret_path)
{
    const char *home = arm_client_config(skus->arm)->resource_manager;

    *ret_path = NULL;
    if (!link || !*link)
        return NULL;
    if (strncmp(link, home, strlen(home)) != 0)
        return err_new(ERR_INTERNAL, "the list of SKUs goes on outside of %s", home);
    *ret_path = mem_strdup(link + strlen(home));
    return NULL;
}

static struct err *ask_azure(struct task *self, struct skus *skus, struct vm_sizes *sizes)
{
    const struct azure_config *config = arm_client_config(skus->arm);
    CLEANUP(freep)
    char *path = mem_printf("/subscriptions/%s/providers/Microsoft.Compute/"
                            "skus?$filter=location%%20eq%%20%%27%s%%27",
                            config->subscription, config->location);

    while (path) {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        const ProtobufCMessage *decoded;

        TRY(arm_client_get(
            self, skus->arm,
            &(struct arm_request){.kind = ARM_OTHER_READ, .path = path, .api_version = API_VERSION},
            &arm__resource_skus_page__descriptor, arena, &decoded));
        const Arm__ResourceSkusPage *page = (const Arm__ResourceSkusPage *)decoded;
        for (size_t i = 0; i < page->n_value; i++)
            take(sizes, page->value[i]);
        free(path);
        path = NULL;
        TRY(next_path(skus, page->next_link, &path));
    }
    return NULL;
}

/* ---- from where it can be had ---- */

static uint64_t now_of(const struct skus *skus)
{
    return loop_now(skus->group->loop);
}

static void use(struct skus *skus, struct vm_sizes *sizes, enum source source, uint64_t next)
{
    if (sizes) {
        vm_sizes_free(skus->sizes);
        skus->sizes = sizes;
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
    struct vm_sizes *sizes;

    if (!skus->cache_file)
        return;
    CLEANUP(err_freep)
    struct err *err = vm_sizes_read(self, skus->cache_file, location, &sizes, &at_us);
    if (err) {
        log_debug("no VM sizes from the last time: %s", err_message(err));
        return;
    }
    uint64_t age_ms = now_us > at_us ? (uint64_t)(now_us - at_us) / 1000 : 0;
    use(skus, sizes, SOURCE_CACHE, now_of(skus) + (age_ms < REFRESH_MS ? REFRESH_MS - age_ms : 0));
}

static void keep(const struct skus *skus)
{
    const char *location = arm_client_config(skus->arm)->location;

    if (!skus->cache_file)
        return;
    CLEANUP(err_freep)
    struct err *err =
        vm_sizes_write(skus->cache_file, location, skus->sizes, loop_wall_us(skus->group->loop));
    if (err)
        log_warning("the list of VM sizes is not kept for the next start: %s", err_message(err));
}

/* Never fails, except that whoever asks is to end. */
static struct err *refresh(struct task *self, struct skus *skus)
{
    struct vm_sizes *sizes = vm_sizes_new();
    struct err *err = ask_azure(self, skus, sizes);

    if (!err) {
        use(skus, sizes, SOURCE_AZURE, now_of(skus) + REFRESH_MS);
        keep(skus);
        return NULL;
    }
    vm_sizes_free(sizes);
    if (err_kind(err) == ERR_CANCELED)
        return err;
    use(skus, NULL, skus->source == SOURCE_NONE ? SOURCE_BUILT_IN : skus->source,
        now_of(skus) + RETRY_MS);
    log_warning("Azure does not say how many data disks a VM size can have, so %s: %s",
                skus->source == SOURCE_BUILT_IN ? "what is built in counts"
                                                : "the last list counts",
                err_message(err));
    err_free(err);
    return NULL;
}

static struct err *load(struct task *self, struct skus *skus)
{
    use_file(self, skus);
    return skus->source == SOURCE_NONE || skus->next <= now_of(skus) ? refresh(self, skus) : NULL;
}

/* ---- asking ---- */

static void refresh_in_background(struct task *self, void *arg)
{
    struct skus *skus = arg;

    err_free(refresh(self, skus));
    skus->loading = false;
}

/* The first who asks waits for an answer, and so does who asks meanwhile. */
static struct err *load_once(struct task *self, struct skus *skus)
{
    while (skus->source == SOURCE_NONE && skus->loading)
        TRY(wait_for_change(self, &skus->changed, TIMER_NEVER));
    if (skus->source != SOURCE_NONE) {
        if (!skus->loading && skus->next <= now_of(skus))
            skus->loading = group_spawn(skus->group, "VM sizes", refresh_in_background, skus);
        return NULL;
    }
    skus->loading = true;
    struct err *err = load(self, skus);
    skus->loading = false;
    waiters_wake(&skus->changed);
    return err;
}

struct err *skus_max_data_disks(struct task *self, struct skus *skus, const char *vm_size,
                                int *ret_count)
{
    TRY(load_once(self, skus));
    if (vm_sizes_find(skus->sizes, vm_size, ret_count) || vm_sizes_built_in(vm_size, ret_count))
        return NULL;
    return err_new(ERR_NOT_FOUND, "nothing is known of VM size %s", vm_size);
}
