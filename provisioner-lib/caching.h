/* caching.h - host caching of a disk on its VM: what is asked for, and what a disk allows.
 *
 * Pure functions. Source of the limits: Azure's documentation of disk caching and of shared disks
 * ("Disk caching is not supported for disks 4 TiB and larger"; a disk of 4,095 GiB has it), and of
 * Ultra Disk and Premium SSD v2.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum caching_mode { CACHING_DEFAULT, CACHING_NONE, CACHING_READ_ONLY, CACHING_READ_WRITE };

/* The name by which Azure knows it; not for CACHING_DEFAULT. */
const char *caching_mode_name(enum caching_mode caching);

/* What decides it of a disk. */
struct caching_disk {
    const char *sku; /* Azure's name, known or not; NULL: not known */
    int max_shares;
    int64_t size_gib; /* 0: not known */
};

/* Why the disk allows no caching, for a message: "a disk with maxShares above 1"; NULL if it does.
 */
const char *caching_obstacle(const struct caching_disk *disk);

/* Why the disk cannot be attached with Azure's write accelerator: "a disk with maxShares above 1";
 * NULL if it can. Which VMs have one is Azure's to say. */
const char *write_accelerator_obstacle(enum caching_mode asked, const struct caching_disk *disk);

/* What to attach the disk with: what was asked for, else ReadOnly, but None where it allows no
 * other. Never CACHING_DEFAULT. */
enum caching_mode caching_of(enum caching_mode asked, const struct caching_disk *disk);
