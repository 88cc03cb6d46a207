/* shutdown.h - ends the use of a volume whose fence another node has taken (node/fence_watch.h).
 *
 * The disk refuses the writes of this node, but no longer than somebody has the fence. A process
 * that goes on would write again then, and a kernel that has not tried to write until then would
 * not know. So:
 *   - a file system that is mounted ends for good: what its caches hold is never written, and
 *     whoever uses it gets I/O errors until it is unmounted. (Then ext4 writes its superblock.)
 *     Where nobody has the fence any more, a SCSI disk is offline for an instant, so that what
 *     waits to be written is dropped all the same. Until then the kernel may write it any time.
 *   - a disk without one, which may be a raw volume's, becomes read-only, as its partitions do:
 *     the kernel refuses what is written to it by whoever has it open, until the volume is
 *     unstaged. What a process has mapped into its memory, or a device made of this one, is not
 *     refused.
 */
#pragma once

#include "provisioner-lib/host/host.h"

/* Of the disk and its partitions, unless the fence is that of `key` after all; 0 is nobody's. */
struct err *host_shut_down(struct task *self, struct host *host, const struct device *disk,
                           uint64_t key) __attribute__((warn_unused_result));

/* Makes a disk that nobody uses any more writable again. Blocks: for a thread pool. */
struct err *shutdown_lift(const struct device_roots *roots, const struct device *disk)
    __attribute__((warn_unused_result));
