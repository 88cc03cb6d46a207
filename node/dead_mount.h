/* dead_mount.h - what a volume's staging path has of a disk that the kernel does not have any more.
 *
 * A disk may be detached while it is mounted, and come back as another device: by force, by
 * somebody's hand, or because kubelet had forgotten the volume (left_mount.h). What is mounted then
 * answers with errors for ever, and is in the way of the disk. It is taken away as soon as kubelet
 * wants the volume again and no pod has it.
 */
#pragma once

#include "node/node.h"
#include "provisioner-lib/host/mount_table.h"

struct dead_mount {
    const char *volume_id, *staging;
    const char *target; /* of a publish; what is published there already stays. NULL: none */
};

/* By a caller that has claimed the volume. PRECONDITION if a pod still has it; nothing is done, and
 * that is success, if the device is there. */
struct err *dead_mount_remove(struct task *self, struct node *node, const struct dead_mount *mount,
                              uint64_t deadline) __attribute__((warn_unused_result));

/* Of what is staged, as the mount table has it; `kernel_has_it`: the device of the file system, of
 * which the node of a raw volume is a file. Pure. */
bool dead_mount_is(const struct mount_entry *staged, bool kernel_has_it);
