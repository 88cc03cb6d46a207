/* provenance.h - whose file system a copy of a disk may have.
 *
 * A new disk is empty; a copy has what its source had, and with it the UUID of a file system that
 * is another volume's. A node mounts a disk only if its file system is that of the record
 * (docs/disk-safety.md), so the record of a copy says whose it may be, until the copy has a UUID of
 * its own.
 *
 * What is said here is so of every copy that is begun later, and is put on record before the copy
 * begins. What comes to be on record of the source meanwhile may be younger than the copy's
 * content. And what a node has just written to the source is not on record yet, but its UUID is
 * known, because it follows from the id of the source.
 */
#pragma once

#include "controller/controller.h"

struct provenance {
    char *filesystem; /* that the copy has, as it is on record: "ext4 <uuid>"; NULL: none */
    /* With spaces: those that it may have instead, the source's own first; it may be empty instead
     * only if none is on record. NULL: it has what is on record. */
    char *uuids;
};

void provenance_fini(struct provenance *provenance);

/* Of copies of this disk. */
void provenance_of_disk(const struct controller *controller, const char *disk_id,
                        struct provenance *ret);
/* Of the source of a volume that is to be a copy: of the disk, or of the snapshot's disk when the
 * snapshot was made. Asks the cloud which disk that was if the snapshot is not on record; nothing
 * is known of the time between. */
struct err *provenance_of_source(struct task *self, const struct controller *controller,
                                 const Api__AzVolume *volume, struct provenance *ret)
    __attribute__((warn_unused_result));
/* Of a copy of which this was lost, by the id of the disk or snapshot that it is of: whatever its
 * source has had at any time. NULL if that is not known: a snapshot may be gone. free() it. */
struct err *provenance_uuids_of(struct task *self, const struct controller *controller,
                                const char *source_id, char **ret)
    __attribute__((warn_unused_result));
