/* attachment.h - what an AzVolumeAttachment says to the node that it is for.
 *
 * Pure functions over the object.
 */
#pragma once

#include <stdbool.h>

#include "provisioner-lib/host/identity.h"
#include "provisioner-lib/records/attachment.h"

/* Where the volume's disk is and what it must be. */
struct attachment_place {
    unsigned lun;
    uint64_t size;  /* bytes */
    bool read_only; /* by its publish: nothing may be written to the disk */
    bool has_record;
    struct filesystem_identity record;
};

/* Of an attachment in whatever role. INTERNAL if that is not on record. */
struct err *attachment_place_read(const Api__AzVolumeAttachment *attachment,
                                  struct attachment_place *ret) __attribute__((warn_unused_result));

/* Whether the disk is attached, with this node as its one user. BUSY, saying in what state it is,
 * while that may still come; any other error is how the attachment has failed for good. */
struct err *attachment_check(const Api__AzVolumeAttachment *attachment,
                             struct attachment_place *ret) __attribute__((warn_unused_result));

/* Whether Azure was seen to have the disk there in this boot of the machine, as far as controllers
 * say so: those of earlier releases do not. BUSY until it was. */
struct err *attachment_check_boot(const Api__AzVolumeAttachment *attachment, const char *boot_id)
    __attribute__((warn_unused_result));

/* Whether it takes one of the VM's places for disks. */
bool attachment_holds_place(const Api__AzVolumeAttachment *attachment);
