/* sku.h - what Azure sells: sizes of VMs, kinds and sizes of disks, as tables.
 *
 * Everything is constant. Names are compared as Azure does, whatever their case. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_LUN = 63 };

struct vm_size {
    const char *name;   /* "Standard_D4s_v5" */
    const char *family; /* "standardDSv5Family" */
    unsigned vcpus;
    const char *memory_gb;
    unsigned max_data_disks;
    bool premium;            /* takes Premium disks */
    const char *controllers; /* DiskControllerTypes */
};

/* What a disk can be, by its size. */
struct disk_step {
    int64_t gib;
    const char *premium, *standard_ssd, *standard; /* names of the step; NULL: not offered */
    unsigned premium_iops, premium_mbps;
    unsigned standard_ssd_iops, standard_ssd_mbps;
    unsigned standard_iops, standard_mbps;
    unsigned max_shares; /* of the SKUs whose sharing depends on the size */
};

enum disk_family { DISK_STANDARD, DISK_STANDARD_SSD, DISK_PREMIUM, DISK_PREMIUM_V2, DISK_ULTRA };

struct disk_sku {
    const char *name; /* "Premium_LRS" */
    const char *tier; /* "Premium" */
    enum disk_family family;
    bool zone_redundant;
    int64_t least_gib, most_gib;
    unsigned max_shares; /* 0: by the step */
};

/* NULL if there is no such size or SKU. */
const struct vm_size *vm_size_find(const char *name);
const struct disk_sku *disk_sku_find(const char *name);

/* The step that a disk of this size is billed and limited as. */
const struct disk_step *disk_step_of(int64_t gib);
unsigned disk_max_shares(const struct disk_sku *sku, int64_t gib);
/* Name of the step, such as "P15"; NULL where a SKU has no steps. */
const char *disk_step_name(const struct disk_sku *sku, const struct disk_step *step);
void disk_performance(const struct disk_sku *sku, int64_t gib, int64_t *ret_iops,
                      int64_t *ret_mbps);
/* Whether clients choose IOPS and throughput themselves. */
bool disk_performance_is_settable(const struct disk_sku *sku);

/* The whole tables, for lists. */
const struct vm_size *vm_sizes(size_t *ret_n);
const struct disk_sku *disk_skus(size_t *ret_n);
const struct disk_step *disk_steps(size_t *ret_n);
