/* disk_scan.h - what the cloud has said of disks and of their owners, for the audit to compare.
 */
#pragma once

#include "provisioner-lib/cloud.h"

/* A machine that a disk names as its owner and that is no node's one. */
struct foreign_vm {
    char *id;
    bool exists;
};

struct disk_scan {
    struct cloud_disks disks; /* all of every place where a volume's disk is */
    struct disk_entry {
        uint64_t hash; /* of the id */
        const struct cloud_disk *disk;
    } * by_id;

    struct unlisted {
        char *disk_id; /* one in the place that may not be listed, which stands for it */
        char *reason;
    } * unlisted;
    size_t n_unlisted;

    struct foreign_vm *foreign_vms;
    size_t n_foreign_vms;
};

void disk_scan_fini(struct disk_scan *scan);

/* Once all disks are in it, before they are looked for. */
void disk_scan_index(struct disk_scan *scan);
/* NULL if it was not listed; ids are alike whatever their case. */
const struct cloud_disk *disk_scan_find(const struct disk_scan *scan, const char *id);
bool disk_scan_may_list(const struct disk_scan *scan, const char *id);
const struct foreign_vm *disk_scan_foreign_vm(const struct disk_scan *scan, const char *id);

/* Two disks are in one place: their ids differ in their names only. */
bool disk_is_beside(const char *id, const char *other);
