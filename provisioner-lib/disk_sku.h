/* disk_sku.h - what each kind of managed disk can be, and what a cloud says of it.
 *
 * The kinds are fixed, since the parameters of a StorageClass name them; a disk that the driver has
 * not made may be of another kind, of which little is known. Their limits are the cloud's to tell
 * (cloud.h); what is built in is for when it does not. Names are not case-sensitive.
 *
 * Source: Azure's documentation of disk types and shared disks (sizes, maxShares by size).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GIB (1024LL * 1024 * 1024)

extern const char *const DISK_SKU_NAMES[]; /* NULL at the end */

/* The size of a disk with so many bytes, in GiB: disks have whole ones, and one at least. */
int64_t disk_size_gib(int64_t bytes);

/* Of disks of one kind, from one size to another. */
struct disk_limits {
    int64_t least_gib, most_gib;
    int max_shares; /* 1: it cannot be shared; 0: not said */
    /* What can be chosen, where throughput is set apart from the size; most 0: not said. */
    int64_t least_iops, most_iops, most_iops_per_gib;
    int64_t least_mbps, most_mbps;
    unsigned zones; /* bit n: zone n of the region has such disks; 0: not said */
};

/* Of a disk of this size, by the rows of its kind (one at least): the smallest one into which it
 * fits says what it can be, and all of them together from what to what size there are disks. */
void disk_limits_at(const struct disk_limits *rows, size_t n, int64_t size_gib,
                    struct disk_limits *ret);
/* Such disks are in "eastus-1", as far as is known. */
bool disk_limits_in_zone(const struct disk_limits *limits, const char *zone);
void disk_limits_built_in(const char *name, int64_t size_gib, struct disk_limits *ret);

/* There are sizes in which it can be attached to several VMs at once. */
bool disk_sku_is_shareable(const char *name);
/* Its throughput is set apart from its size. */
bool disk_sku_is_provisioned(const char *name);
/* A disk of this kind can grow from one size to another while a machine that runs has it. One that
 * is shared cannot; nor can one whose throughput follows its size cross 4 TiB, where Azure keeps it
 * differently and its cache on the host ends. */
bool disk_grows_attached(const char *name, int max_shares, int64_t from_gib, int64_t to_gib);
/* Why a disk of one kind cannot become one of the other; NULL if it can. Source of this and the
 * next one: Azure's documentation of converting disk types. */
const char *disk_sku_change_obstacle(const char *from, const char *to);
/* It can, while a machine that runs has it; `cached`: the machine's host caches it. */
bool disk_sku_changes_attached(const char *from, const char *to, int max_shares, bool cached);
/* It can be attached from every zone of its region. */
bool disk_sku_is_zone_redundant(const char *name);
