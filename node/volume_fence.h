/* volume_fence.h - the fence around a volume's disk (provisioner-lib/host/fence.h) while this node
 * is its primary.
 *
 * Before the volume is mounted, unless it is published read-only, the node's AzVolumeAttachment
 * says so (fence_record.h). That goes with the fence, when the volume is unstaged.
 */
#pragma once

#include "node/node.h"
#include "node/volume_record.h"

struct fenced_volume {
    const char *id;
    struct kube_object *attachment;
    const struct volume_record *record;
    const struct device *disk, *device; /* `device` is used: the disk or a partition of it */
    const char *staging;                /* its path */
};

/* By which the disk knows this node as the user of the volume: until the node is started anew, or
 * gets another attachment of it. */
struct err *volume_fence_key(struct task *self, struct node *node, const char *volume_id,
                             const struct kube_object *attachment, uint64_t *ret)
    __attribute__((warn_unused_result));

/* `ret_key` is 0 if there is no fence: nobody wants one, or the device supports none and its volume
 * can do without. PRECONDITION, with the reason, if the volume must not be mounted. */
struct err *volume_fence_take(struct task *self, struct node *node,
                              const struct fenced_volume *volume, uint64_t *ret_key)
    __attribute__((warn_unused_result));

/* Nobody on this node uses the volume any more. What fails is logged: the next primary takes the
 * disk over all the same, and it forgets this node when it is detached. A fence that was taken from
 * a former primary stays until then. */
void volume_fence_release(struct task *self, struct node *node, struct kube_object *attachment,
                          unsigned lun);

/* Writes ANNOTATION_FENCE (provisioner-lib/records/fence_note.h), unless that is on record; NULL
 * takes it away. For fence_watch.h, too. */
struct err *volume_fence_record(struct task *self, struct node *node,
                                const struct kube_object *attachment, const char *note)
    __attribute__((warn_unused_result));
