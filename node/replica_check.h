/* replica_check.h - whether the disks of replicas on this node could be used at once: looked at
 * when a disk has come, and about each minute from then on.
 *
 * A failover takes seconds because the disk is there already. If it is not, is another one, has
 * another size or cannot be read, that is found out now and not by the failover: the status of the
 * node's AzVolumeAttachment gets the annotation ANNOTATION_REPLICA_READY (replica_verdict.h), by
 * which the scheduler extender and the controller prefer other replicas. It is written only when
 * it changes, and taken away when the attachment is no replica's any more.
 *
 * A task and, while it looks, a thread for each of them, so that a disk that hangs stops only its
 * own volume, and not even that one's promotion. There is one look at a time: while one hangs, no
 * other begins. Loop's thread.
 */
#pragma once

#include "lib/rt/group.h"
#include "node/node.h"

/* Checks the replicas as long as the group lives. */
void replica_checks_start(struct node *node, struct task_group *group);

/* The LUN of the disk that is to be checked for an attachment; NO_LUN: none is. Pure. */
int replica_check_lun(const Api__AzVolumeAttachment *attachment);

unsigned replica_checks_failed(const struct node *node); /* replicas that are not ready */
