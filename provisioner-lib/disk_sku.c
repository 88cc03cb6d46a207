#include "provisioner-lib/disk_sku.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"

const char *const DISK_SKU_NAMES[] = {
    "Standard_LRS", "StandardSSD_LRS", "StandardSSD_ZRS", "Premium_LRS",
    "Premium_ZRS",  "UltraSSD_LRS",    "PremiumV2_LRS",   NULL,
};

enum { BORDER_GIB = 4096 };

#define PREMIUM_V2 "PremiumV2_LRS"

/* Where throughput goes with the size: E1 to E20, E30 to E50, E60 to E80, and the same for P. */
static const struct disk_limits stepped[] = {
    {.least_gib = 1, .most_gib = 512, .max_shares = 3},
    {.least_gib = 513, .most_gib = 4096, .max_shares = 5},
    {.least_gib = 4097, .most_gib = 32767, .max_shares = 10},
};

static const struct disk_limits standard[] = {{.least_gib = 1, .most_gib = 32767, .max_shares = 1}};

static const struct disk_limits ultra[] = {{
    .least_gib = 4,
    .most_gib = 65536,
    .max_shares = 15,
    .least_iops = 100,
    .most_iops = 400000,
    .most_iops_per_gib = 1000,
    .least_mbps = 1,
    .most_mbps = 10000,
}};

static const struct disk_limits premium_v2[] = {{
    .least_gib = 1,
    .most_gib = 65536,
    .max_shares = 15,
    .least_iops = 3000,
    .most_iops = 80000,
    .most_iops_per_gib = 500,
    .least_mbps = 125,
    .most_mbps = 2000,
}};

static const struct sku {
    const char *name;
    const struct disk_limits *rows;
    size_t n_rows;
    bool provisioned;
    bool fixed; /* a disk never becomes of this kind, nor ceases to be */
} skus[] = {
    {"Standard_LRS", standard, COUNT_OF(standard), false, false},
    {"StandardSSD_LRS", stepped, COUNT_OF(stepped), false, false},
    {"StandardSSD_ZRS", stepped, COUNT_OF(stepped), false, false},
    {"Premium_LRS", stepped, COUNT_OF(stepped), false, false},
    {"Premium_ZRS", stepped, COUNT_OF(stepped), false, false},
    {"UltraSSD_LRS", ultra, COUNT_OF(ultra), true, true},
    {PREMIUM_V2, premium_v2, COUNT_OF(premium_v2), true, false},
};

/* Azure may have more kinds than this driver knows: the cloud says what they can be. */
static const struct disk_limits unknown[] = {{.least_gib = 1, .most_gib = 65536}};
static const struct sku unknown_sku = {"", unknown, COUNT_OF(unknown), false, false};

static const struct sku *find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(skus); i++)
        if (strcasecmp(skus[i].name, name) == 0)
            return &skus[i];
    return &unknown_sku;
}

static bool fits_better(const struct disk_limits *row, const struct disk_limits *other,
                        int64_t size_gib)
{
    if (row->most_gib < size_gib)
        return other->most_gib < row->most_gib; /* too large for both */
    return other->most_gib < size_gib || row->most_gib < other->most_gib;
}

void disk_limits_at(const struct disk_limits *rows, size_t n, int64_t size_gib,
                    struct disk_limits *ret)
{
    const struct disk_limits *best = &rows[0];
    int64_t least = best->least_gib, most = best->most_gib;

    for (size_t i = 1; i < n; i++) {
        if (fits_better(&rows[i], best, size_gib))
            best = &rows[i];
        least = rows[i].least_gib < least ? rows[i].least_gib : least;
        most = rows[i].most_gib > most ? rows[i].most_gib : most;
    }
    *ret = *best;
    ret->least_gib = least;
    ret->most_gib = most;
    if (ret->most_iops_per_gib && ret->most_iops > ret->most_iops_per_gib * size_gib)
        ret->most_iops = ret->most_iops_per_gib * size_gib;
    if (ret->most_iops && ret->most_iops < ret->least_iops)
        ret->most_iops = ret->least_iops;
}

bool disk_limits_in_zone(const struct disk_limits *limits, const char *zone)
{
    const char *dash = strrchr(zone, '-');
    unsigned long number = dash ? strtoul(dash + 1, NULL, 10) : 0;

    return !limits->zones || number == 0 || number >= sizeof limits->zones * 8 ||
           (limits->zones >> number & 1);
}

void disk_limits_built_in(const char *name, int64_t size_gib, struct disk_limits *ret)
{
    const struct sku *sku = find(name);

    disk_limits_at(sku->rows, sku->n_rows, size_gib, ret);
}

bool disk_sku_is_shareable(const char *name)
{
    return find(name)->rows[0].max_shares > 1;
}

bool disk_sku_is_provisioned(const char *name)
{
    return find(name)->provisioned;
}

int64_t disk_size_gib(int64_t bytes)
{
    return bytes > GIB ? (bytes - 1) / GIB + 1 : 1;
}

bool disk_grows_attached(const char *name, int max_shares, int64_t from_gib, int64_t to_gib)
{
    bool crosses = from_gib <= BORDER_GIB && to_gib >= BORDER_GIB;

    return max_shares <= 1 && (disk_sku_is_provisioned(name) || !crosses);
}

const char *disk_sku_change_obstacle(const char *from, const char *to)
{
    if (strcasecmp(from, to) == 0)
        return NULL;
    if (find(from) == &unknown_sku)
        return "this version of the driver does not know the kind that the disk has";
    if (find(from)->fixed || find(to)->fixed)
        return "disks can be converted from or to UltraSSD_LRS only by copying them";
    if (strcasecmp(from, PREMIUM_V2) == 0)
        return "a PremiumV2_LRS disk can be converted to another kind only by copying it";
    if (disk_sku_is_zone_redundant(from) != disk_sku_is_zone_redundant(to))
        return "a disk's zones, which its PersistentVolume names, stay as they are: a "
               "zone-redundant "
               "disk cannot become a locally redundant one, nor the other way round";
    return NULL;
}

bool disk_sku_changes_attached(const char *from, const char *to, int max_shares, bool cached)
{
    return strcasecmp(from, to) == 0 ||
           (strcasecmp(to, PREMIUM_V2) == 0 && max_shares <= 1 && !cached);
}

bool disk_sku_is_zone_redundant(const char *name)
{
    return strcasestr(name, "_ZRS") != NULL;
}
