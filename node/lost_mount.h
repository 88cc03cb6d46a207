/* lost_mount.h - what a node still has mounted of a volume whose fence it has lost.
 *
 * Such a mount is from before another node had the disk: what its caches hold is not what is on the
 * disk, and must never get there. When the role comes back it looks like one that is staged
 * already, be it that nobody has looked at the fence since (fence_watch.h), as while the plug-in
 * was not running, or that whoever has taken it is gone. So it ends here, as it does there, and is
 * taken away as soon as kubelet wants the volume again and no pod has it.
 */
#pragma once

#include "node/node.h"
#include "provisioner-lib/host/reservation.h"

struct lost_mount {
    const char *volume_id, *staging;
    struct kube_object *attachment;
    const struct device *disk;
};

/* What is in use of a disk whose fence was taken, by the record or by what the disk says, is shut
 * down, and that is on record. Nothing is done if nothing is in use. */
struct err *lost_mount_look(struct task *self, struct node *node, const struct lost_mount *mount)
    __attribute__((warn_unused_result));

/* Takes away what is staged of a volume whose fence is lost by the record. By a caller that has
 * claimed the volume. PRECONDITION if a pod still has it. */
struct err *lost_mount_remove(struct task *self, struct node *node, const char *volume_id,
                              const char *staging, uint64_t deadline)
    __attribute__((warn_unused_result));

/* By what is on record of the fence, and what the disk says of it. `own` is this node's key, under
 * which it had the fence if it has had it at all. Pure. */
bool lost_mount_is(const Api__AzVolumeAttachment *attachment, uint64_t own,
                   const struct reservation *seen);
