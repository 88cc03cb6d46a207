/* provenance.h - whose file system a copy of a disk may have.
 *
 * A new disk is empty; a copy has what its source had, and with it the UUID of a file system that
 * is another volume's. A node mounts a disk only if its file system is that of the record
 * (docs/disk-safety.md), so the record of a copy says whose it may be, until the copy has a UUID of
 * its own.
 */
#pragma once

#include "controller/controller.h"

/* The file system that a disk has on record, or, if it is a copy that was never mounted, its
 * source's; NULL if none is known. */
const char *filesystem_of_disk(const struct controller *controller, const char *disk_id);

/* The same of the source of a volume that is a copy: of the disk, or of the snapshot's disk when
 * the snapshot was made. Asks the cloud which disk that was if the snapshot is not on record.
 * free() it.
 */
struct err *filesystem_of_source(struct task *self, const struct controller *controller,
                                 const Api__AzVolume *volume, char **ret)
    __attribute__((warn_unused_result));
