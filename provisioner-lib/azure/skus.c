#include "provisioner-lib/azure/skus.h"

#include <stdlib.h>
#include <string.h>

#include "lib/api/compute.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/hash.h"
#include "lib/rt/wait.h"

#define API_VERSION "2021-07-01"

struct size {
    char *name; /* lower case */
    int max_data_disks;
    UT_hash_handle hh;
};

struct skus {
    struct arm_client *arm;
    struct size *sizes;
    bool loaded, loading;
    struct waiters changed;
};

struct skus *skus_new(struct arm_client *arm)
{
    struct skus *skus = mem_alloc(sizeof *skus);

    skus->arm = arm;
    waiters_init(&skus->changed);
    return skus;
}

void skus_free(struct skus *skus)
{
    if (!skus)
        return;
    HASH_FOREACH(skus->sizes, size) {
        HASH_DEL(skus->sizes, size);
        free(size->name);
        free(size);
    }
    free(skus);
}

static struct size *find(const struct skus *skus, const char *vm_size)
{
    CLEANUP(freep) char *name = mem_lower(vm_size);
    struct size *size;

    HASH_FIND_STR(skus->sizes, name, size);
    return size;
}

static void take(struct skus *skus, const Arm__ResourceSku *sku)
{
    struct size *size;

    if (!sku->name || !sku->resource_type || strcmp(sku->resource_type, "virtualMachines") != 0)
        return;
    for (size_t i = 0; i < sku->n_capabilities; i++) {
        const Arm__SkuCapability *capability = sku->capabilities[i];

        if (!capability->name || !capability->value ||
            strcmp(capability->name, "MaxDataDiskCount") != 0 || find(skus, sku->name))
            continue;
        size = mem_alloc(sizeof *size);
        size->name = mem_lower(sku->name);
        size->max_data_disks = (int)strtol(capability->value, NULL, 10);
        HASH_ADD_KEYPTR(hh, skus->sizes, size->name, strlen(size->name), size);
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

static struct err *load(struct task *self, struct skus *skus)
{
    const struct azure_config *config = arm_client_config(skus->arm);
    CLEANUP(freep)
    char *path = mem_printf("/subscriptions/%s/providers/Microsoft.Compute/"
                            "skus?$filter=location%%20eq%%20%%27%s%%27",
                            config->subscription, config->location);

    while (path) {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        const ProtobufCMessage *decoded;

        TRY(arm_client_get(self, skus->arm, path, API_VERSION, &arm__resource_skus_page__descriptor,
                           arena, &decoded));
        const Arm__ResourceSkusPage *page = (const Arm__ResourceSkusPage *)decoded;
        for (size_t i = 0; i < page->n_value; i++)
            take(skus, page->value[i]);
        free(path);
        path = NULL;
        TRY(next_path(skus, page->next_link, &path));
    }
    return NULL;
}

static struct err *load_once(struct task *self, struct skus *skus)
{
    while (skus->loading)
        TRY(wait_for_change(self, &skus->changed, TIMER_NEVER));
    if (skus->loaded)
        return NULL;
    skus->loading = true;
    struct err *err = load(self, skus);
    skus->loading = false;
    skus->loaded = !err;
    waiters_wake(&skus->changed);
    return err;
}

struct err *skus_max_data_disks(struct task *self, struct skus *skus, const char *vm_size,
                                int *ret_count)
{
    TRY(load_once(self, skus));
    struct size *size = find(skus, vm_size);
    if (!size)
        return err_new(ERR_NOT_FOUND, "VM size %s is not in the region's list of SKUs", vm_size);
    *ret_count = size->max_data_disks;
    return NULL;
}
