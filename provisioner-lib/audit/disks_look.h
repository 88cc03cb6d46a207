/* disks_look.h - what the cloud has said of disks and of their owners, for the audit to compare.
 */
#pragma once

#include "provisioner-lib/cloud.h"

/* A machine that a disk names as its owner and that is no node's one. */
struct stranger {
    char *id;
    bool exists;
};

struct disks_look {
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

    struct stranger *strangers;
    size_t n_strangers;
};

void disks_look_fini(struct disks_look *look);

/* Once all disks are in it, before they are looked for. */
void disks_look_index(struct disks_look *look);
/* NULL if it was not listed; ids are alike whatever their case. */
const struct cloud_disk *disks_look_find(const struct disks_look *look, const char *id);
bool disks_look_may_list(const struct disks_look *look, const char *id);
const struct stranger *disks_look_stranger(const struct disks_look *look, const char *id);

/* Two disks are in one place: their ids differ in their names only. */
bool disk_is_beside(const char *id, const char *other);
