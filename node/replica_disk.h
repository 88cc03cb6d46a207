/* replica_disk.h - disks of replicas: on this node, but for nobody on it to use.
 *
 * A disk that appears on a machine invites the programs that put disks together: MD, LVM and
 * multipath take one that looks like a part of theirs, be it only that the user of a raw volume has
 * made it so, and then write to it, or keep it when it is promoted. So the plug-in itself claims
 * the disk of a replica as soon as it has come, by an open file that nobody else can have. It is
 * closed when the attachment is to become the primary, before it does, and is no obstacle to a
 * detach. The kernel closes it, too, when the plug-in ends.
 *
 * A task for each of them, so that a disk that hangs stops only its own volume. Loop's thread.
 */
#pragma once

#include "lib/rt/group.h"
#include "node/node.h"

/* Watches over the disks as long as the group lives. */
void replica_disks_start(struct node *node, struct task_group *group);

/* Waits until the volume's disk is not held any more, as one is not that is no replica's. */
struct err *replica_disk_await_release(struct task *self, struct node *node, const char *volume_id,
                                       uint64_t deadline) __attribute__((warn_unused_result));

/* Who had the disk in use may have left it: it is claimed at once, if it is a replica's. */
void replica_disk_look_again(struct node *node, const char *volume_id);

/* The LUN of the disk that is to be held for an attachment; NO_LUN: none is. Pure. */
int replica_disk_lun(const Api__AzVolumeAttachment *attachment);

/* Whether this volume's is. */
bool replica_disk_is_held(const struct node *node, const char *volume_id);
/* What is held for a volume (its id in lower case); 0: nothing. */
dev_t replica_disk_device(const struct node *node, const char *volume, bool *ret_in_use);

unsigned replica_disks_held(const struct node *node);
unsigned replica_disks_in_use(const struct node *node); /* by somebody else */
