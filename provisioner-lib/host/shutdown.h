/* shutdown.h - ends a file system that is mounted, for good: what its caches hold is never written,
 * and whoever uses it gets I/O errors until it is unmounted. (Then ext4 writes its superblock.)
 *
 * For a volume whose fence another node has taken (node/fence_watch.h). The disk refuses the writes
 * of this one, but no longer than somebody has the fence; a kernel that has not tried to write
 * until then would not know, and what it keeps of metadata it would write later.
 */
#pragma once

#include "provisioner-lib/host/host.h"

/* Of the file system on the disk, or on one of its partitions, unless the fence is that of `key`
 * after all; success if none is mounted. */
struct err *host_shut_down(struct task *self, struct host *host, const struct device *disk,
                           uint64_t key) __attribute__((warn_unused_result));
