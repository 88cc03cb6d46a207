#include "provisioner-lib/disk_sku.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

const char *const DISK_SKU_NAMES[] = {
    "Standard_LRS", "StandardSSD_LRS", "StandardSSD_ZRS", "Premium_LRS",
    "Premium_ZRS",  "UltraSSD_LRS",    "PremiumV2_LRS",   NULL,
};

static const struct sku {
    const char *name;
    int64_t max_gib;
    bool shared, provisioned;
} skus[] = {
    {"Standard_LRS", 32767, false, false},   {"StandardSSD_LRS", 32767, true, false},
    {"StandardSSD_ZRS", 32767, true, false}, {"Premium_LRS", 32767, true, false},
    {"Premium_ZRS", 32767, true, false},     {"UltraSSD_LRS", 65536, true, true},
    {"PremiumV2_LRS", 65536, true, true},
};

/* By size, for disks whose throughput goes with their size: P1 to P20, P30 to P50, P60 to P80, and
 * the same for E. */
static const struct {
    int64_t up_to_gib;
    int max_shares;
} shares[] = {{512, 3}, {4096, 5}, {INT64_MAX, 10}};

enum { PROVISIONED_SHARES = 15 };

static const struct sku *find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(skus); i++)
        if (strcmp(skus[i].name, name) == 0)
            return &skus[i];
    abort(); /* names are checked where they come in */
}

int64_t disk_sku_max_gib(const char *name)
{
    return find(name)->max_gib;
}

int disk_sku_max_shares(const char *name, int64_t size_gib)
{
    const struct sku *sku = find(name);
    size_t i = 0;

    if (!sku->shared)
        return 0;
    if (sku->provisioned)
        return PROVISIONED_SHARES;
    while (size_gib > shares[i].up_to_gib)
        i++;
    return shares[i].max_shares;
}

bool disk_sku_is_provisioned(const char *name)
{
    return find(name)->provisioned;
}

bool disk_sku_is_zone_redundant(const char *name)
{
    return strstr(find(name)->name, "_ZRS") != NULL;
}
