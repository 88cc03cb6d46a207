#include "test/azsim/model/sku.h"

#include <stdlib.h>
#include <strings.h>

#include "lib/base/alloc.h"

/* clang-format off */
static const struct vm_size sizes[] = {
    {"Standard_B1s",      "standardBSFamily",     1, "1",     2, true,  "SCSI"},
    {"Standard_B2ms",     "standardBSFamily",     2, "8",     4, true,  "SCSI"},
    {"Standard_DS2_v2",   "standardDSv2Family",   2, "7",     8, true,  "SCSI"},
    {"Standard_D2_v3",    "standardDv3Family",    2, "8",     4, false, "SCSI"},
    {"Standard_D2s_v3",   "standardDSv3Family",   2, "8",     4, true,  "SCSI"},
    {"Standard_D2s_v5",   "standardDSv5Family",   2, "8",     4, true,  "SCSI"},
    {"Standard_D4s_v5",   "standardDSv5Family",   4, "16",    8, true,  "SCSI"},
    {"Standard_D8s_v5",   "standardDSv5Family",   8, "32",   16, true,  "SCSI"},
    {"Standard_D16s_v5",  "standardDSv5Family",  16, "64",   32, true,  "SCSI"},
    {"Standard_D64s_v5",  "standardDSv5Family",  64, "256",  32, true,  "SCSI"},
    {"Standard_D2s_v6",   "standardDsv6Family",   2, "8",     8, true,  "NVMe"},
    {"Standard_D2s_v7",   "standardDsv7Family",   2, "8",    10, true,  "NVMe"},
    {"Standard_D96s_v6",  "standardDsv6Family",  96, "384",  64, true,  "NVMe"},
    {"Standard_D192s_v6", "standardDsv6Family", 192, "768",  64, true,  "NVMe"},
    {"Standard_E8bds_v5", "standardEBDSv5Family", 8, "64",   16, true,  "SCSI, NVMe"},
    {"Standard_M128s",    "standardMSFamily",   128, "2048", 64, true,  "SCSI"},
    /* made up: one that a driver cannot know by itself */
    {"Standard_Z2s_v99",  "standardZsv99Family",  2, "8",     2, true,  "SCSI"},
};

static const struct disk_sku skus[] = {
    {"Standard_LRS",    "Standard", DISK_STANDARD,     false, 1, 32767,  1},
    {"StandardSSD_LRS", "Standard", DISK_STANDARD_SSD, false, 1, 32767,  0},
    {"StandardSSD_ZRS", "Standard", DISK_STANDARD_SSD, true,  1, 32767,  0},
    {"Premium_LRS",     "Premium",  DISK_PREMIUM,      false, 1, 32767,  0},
    {"Premium_ZRS",     "Premium",  DISK_PREMIUM,      true,  1, 32767,  0},
    {"PremiumV2_LRS",   "Premium",  DISK_PREMIUM_V2,   false, 1, 65536, 15},
    {"UltraSSD_LRS",    "Ultra",    DISK_ULTRA,        false, 4, 65536, 15},
};

static const struct disk_step steps[] = {
    {4,     "P1",  "E1",  NULL,  120,   25,  500,  60,  500,  60,  3},
    {8,     "P2",  "E2",  NULL,  120,   25,  500,  60,  500,  60,  3},
    {16,    "P3",  "E3",  NULL,  120,   25,  500,  60,  500,  60,  3},
    {32,    "P4",  "E4",  "S4",  120,   25,  500,  60,  500,  60,  3},
    {64,    "P6",  "E6",  "S6",  240,   50,  500,  60,  500,  60,  3},
    {128,   "P10", "E10", "S10", 500,   100, 500,  60,  500,  60,  3},
    {256,   "P15", "E15", "S15", 1100,  125, 500,  60,  500,  60,  3},
    {512,   "P20", "E20", "S20", 2300,  150, 500,  60,  500,  60,  3},
    {1024,  "P30", "E30", "S30", 5000,  200, 500,  60,  500,  60,  5},
    {2048,  "P40", "E40", "S40", 7500,  250, 500,  60,  500,  60,  5},
    {4096,  "P50", "E50", "S50", 7500,  250, 500,  60,  500,  60,  5},
    {8192,  "P60", "E60", "S60", 16000, 500, 2000, 400, 1300, 300, 10},
    {16384, "P70", "E70", "S70", 18000, 750, 4000, 600, 2000, 500, 10},
    {32767, "P80", "E80", "S80", 20000, 900, 6000, 750, 2000, 500, 10},
};
/* clang-format on */

/* What PremiumV2 and Ultra disks get when the client names nothing. */
enum { PREMIUM_V2_IOPS = 3000, PREMIUM_V2_MBPS = 125, ULTRA_IOPS = 500, ULTRA_MBPS = 100 };

const struct vm_size *vm_size_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        if (strcasecmp(sizes[i].name, name) == 0)
            return &sizes[i];
    return NULL;
}

const struct disk_sku *disk_sku_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(skus); i++)
        if (strcasecmp(skus[i].name, name) == 0)
            return &skus[i];
    return NULL;
}

const struct disk_step *disk_step_of(int64_t gib)
{
    size_t i = 0;

    while (i + 1 < COUNT_OF(steps) && steps[i].gib < gib)
        i++;
    return &steps[i];
}

unsigned disk_max_shares(const struct disk_sku *sku, int64_t gib)
{
    return sku->max_shares ? sku->max_shares : disk_step_of(gib)->max_shares;
}

const char *disk_step_name(const struct disk_sku *sku, const struct disk_step *step)
{
    switch (sku->family) {
    case DISK_STANDARD:
        return step->standard;
    case DISK_STANDARD_SSD:
        return step->standard_ssd;
    case DISK_PREMIUM:
        return step->premium;
    case DISK_PREMIUM_V2:
    case DISK_ULTRA:
        return NULL;
    }
    abort();
}

void disk_performance(const struct disk_sku *sku, int64_t gib, int64_t *ret_iops, int64_t *ret_mbps)
{
    const struct disk_step *step = disk_step_of(gib);

    switch (sku->family) {
    case DISK_STANDARD:
        *ret_iops = step->standard_iops;
        *ret_mbps = step->standard_mbps;
        return;
    case DISK_STANDARD_SSD:
        *ret_iops = step->standard_ssd_iops;
        *ret_mbps = step->standard_ssd_mbps;
        return;
    case DISK_PREMIUM:
        *ret_iops = step->premium_iops;
        *ret_mbps = step->premium_mbps;
        return;
    case DISK_PREMIUM_V2:
        *ret_iops = PREMIUM_V2_IOPS;
        *ret_mbps = PREMIUM_V2_MBPS;
        return;
    case DISK_ULTRA:
        *ret_iops = ULTRA_IOPS;
        *ret_mbps = ULTRA_MBPS;
        return;
    }
    abort();
}

bool disk_performance_is_settable(const struct disk_sku *sku)
{
    return sku->family == DISK_PREMIUM_V2 || sku->family == DISK_ULTRA;
}

const struct vm_size *vm_sizes(size_t *ret_n)
{
    *ret_n = COUNT_OF(sizes);
    return sizes;
}

const struct disk_sku *disk_skus(size_t *ret_n)
{
    *ret_n = COUNT_OF(skus);
    return skus;
}

const struct disk_step *disk_steps(size_t *ret_n)
{
    *ret_n = COUNT_OF(steps);
    return steps;
}
