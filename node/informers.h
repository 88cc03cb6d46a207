/* informers.h - what this node knows of the cluster: its own AzVolumeAttachments and AzDriverNode,
 * and the questions that the rest asks of them.
 */
#pragma once

#include "lib/rt/group.h"
#include "node/attachment.h"
#include "node/node.h"

/* Fills the stores of `node` as long as the group lives. */
void informers_start(struct node *node, struct task_group *group);
void informers_free(struct node *node); /* after the group is closed */

/* This node's attachment of a volume, borrowed; NULL if it has none. */
struct kube_object *informers_find_attachment(const struct node *node, const char *volume_id);

/* Waits until this node's attachments have been read once: before that, it means nothing that a
 * volume has none. UNAVAILABLE at the deadline. */
struct err *informers_await_first_list(struct task *self, struct node *node, uint64_t deadline)
    __attribute__((warn_unused_result));

/* Waits until this node is the volume's one user and its disk is attached. NOT_FOUND if there is no
 * attachment, TIMEOUT, saying how far it is, at the deadline, or as it has failed for good.
 * `ret_object` is referenced. */
struct err *informers_await_attachment(struct task *self, struct node *node, const char *volume_id,
                                       uint64_t deadline, struct kube_object **ret_object,
                                       struct attachment_place *ret_place)
    __attribute__((warn_unused_result));

/* Waits until Azure was seen to have the disk here in this boot of the machine (node/attachment.h);
 * not for an attachment that is gone. TIMEOUT at the deadline. */
struct err *informers_await_boot(struct task *self, struct node *node, const char *volume_id,
                                 uint64_t deadline) __attribute__((warn_unused_result));

/* Our own AzDriverNode, borrowed; NULL if there is none, as far as is known. */
const Api__AzDriverNode *informers_driver_node(const struct node *node);

/* Places for disks on this node's VM: how many there are, and how many of them our attachments
 * take; -1 as long as the controller has not said so, or the attachments have not been read. */
int informers_slot_limit(const struct node *node);
int informers_slots_taken(const struct node *node);
