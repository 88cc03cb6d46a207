/* volume_record.h - what a volume's disk must be, as its AzVolume says it.
 *
 * A node may write to the status of its attachments, so what is said there of the size and the file
 * system proves nothing once a node was taken over. AzVolumes are written by the controller alone.
 * An attachment that says otherwise than the volume is used by nobody.
 */
#pragma once

#include "node/attachment.h"
#include "node/node.h"
#include "provisioner-lib/records/volume.h"

/* As many of a copy of a copy of a copy as are looked at, the nearest first. */
enum { VOLUME_RECORD_UUIDS = 8 };

struct volume_record {
    uint64_t size;       /* bytes */
    uint64_t grown_size; /* that it is to have, while it grows; 0: it does not */
    char sku[32]; /* what the cloud said of the disk when it was last looked at; "": nothing */
    enum fencing fencing;
    bool has_filesystem;
    struct filesystem_identity filesystem;
    /* While there is none: what the disk may carry because it is a copy. */
    bool has_source;
    struct filesystem_identity source;
    char possible[VOLUME_RECORD_UUIDS * UUID_SIZE]; /* with spaces; "": none */
    char accepted[UUID_SIZE]; /* by the user's word on the PersistentVolume; "": none */
};

/* Whether the AzVolume and what was read of the attachment (`place`) are about the disk `volume_id`
 * and say the same. PRECONDITION, with both, if not; BUSY while the controller has not confirmed
 * yet what a node said. Pure. */
struct err *volume_record_check(const Api__AzVolume *volume,
                                const Api__AzVolumeAttachment *attachment,
                                const struct attachment_place *place, const char *volume_id,
                                struct volume_record *ret) __attribute__((warn_unused_result));

/* Whether a disk of this size may be the attachment's, which says another: one that grows is larger
 * before that is said of every attachment. As the API server has its volume now; BUSY if there is
 * none. */
struct err *volume_record_allows_size(struct task *self, struct node *node,
                                      const struct kube_object *attachment, uint64_t size,
                                      bool *ret) __attribute__((warn_unused_result));

/* The same of the attachment's volume, as the API server has it now. BUSY if there is none. Waits a
 * moment, at most until `deadline`, for the controller to confirm the attachment's file system. */
struct err *volume_record_read(struct task *self, struct node *node,
                               const struct kube_object *attachment,
                               const struct attachment_place *place, const char *volume_id,
                               uint64_t deadline, struct volume_record *ret)
    __attribute__((warn_unused_result));
