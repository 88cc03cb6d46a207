/* preempt_request.h - the controller's request to a replica's node: the volume's primary is silent,
 * or its Node was deleted, and the disk is to refuse its writes (docs/failover.md).
 *
 * The request is the annotation ANNOTATION_PREEMPT_REQUEST, "<key> <occasion>", in the status of
 * the replica's AzVolumeAttachment. This node takes the fence from that key, and from no other,
 * under the key that it has as the primary, too; but not while somebody on this node has mounted or
 * claimed the disk (replica_disk.h), who could write to it again. Only when the disk has confirmed
 * that, it says so: ANNOTATION_PREEMPTED, with the request's text, and the fence that it holds.
 * Until then it tries again, as long as the request stands and the attachment is a replica's.
 */
#pragma once

#include "lib/rt/group.h"
#include "node/node.h"

/* Answers requests as long as the group lives. */
void preempt_requests_start(struct node *node, struct task_group *group);

/* The request that is to be answered, borrowed; NULL: there is none. Pure. */
const char *preempt_request_of(const Api__AzVolumeAttachment *attachment);
