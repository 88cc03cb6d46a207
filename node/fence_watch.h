/* fence_watch.h - notices that another node has taken the fence around a disk, as it does when this
 * one was silent: from then on the disk refuses what this node writes.
 *
 * Whatever is on record as held (fence_record.h) is compared with what the disk says, as often as
 * the node's Lease is renewed: a node that is heard of again says at once what it has lost, so that
 * nobody goes by a fence that it has no more. Without a Lease nobody does, and ten seconds are
 * often enough for people who read the log. The file system is shut down (shutdown.h): it stays
 * mounted until kubelet unmounts it, and writes nothing any more, whatever becomes of the fence. As
 * long as that fails it is tried again.
 */
#pragma once

#include "lib/rt/group.h"
#include "node/node.h"

/* Watches as long as the group lives. */
void fence_watch_start(struct node *node, struct task_group *group);
