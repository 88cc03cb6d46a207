/* disk_sku.h - what each kind of managed disk can be.
 *
 * Source: Azure's documentation of disk types and shared disks (sizes, maxShares by size).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

extern const char *const DISK_SKU_NAMES[]; /* NULL at the end */

int64_t disk_sku_max_gib(const char *name);
/* The most nodes that can share a disk of this size; 0: it cannot be shared at all. */
int disk_sku_max_shares(const char *name, int64_t size_gib);
/* Its throughput is set apart from its size, and it allows no host caching. */
bool disk_sku_is_provisioned(const char *name);
/* It can be attached from every zone of its region. */
bool disk_sku_is_zone_redundant(const char *name);
