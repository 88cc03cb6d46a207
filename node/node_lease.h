/* node_lease.h - the Lease by which the controller hears of this node (docs/failover.md).
 *
 * It is named as the node, in the namespace of the custom resources, and is held while the node is
 * the primary of a volume that wants automatic failover, and has not lost its fence. When there is
 * none any more, and when the plug-in ends in an orderly way, it is given up: held by nobody, so
 * that nobody expects to hear of the node. A plug-in that died has not given it up, and its next
 * life goes on renewing it as soon as it has read the node's attachments.
 *
 * One task does that and nothing else, and no call of it takes longer than a renewal period, so
 * that a disk or an API server that is slow does not make the node look silent.
 */
#pragma once

#include "lib/rt/group.h"
#include "node/node.h"

/* As a member of the group, if the settings ask for a Lease. When the program stops, the task gives
 * it up and ends. */
void node_lease_start(struct node *node, struct task_group *group);

/* Between two renewals; 0: there is no Lease. Pure, as all below. */
uint64_t node_lease_period_ms(const struct settings *settings);

/* Whether the attachment is a reason to have it. */
bool node_lease_is_for(const Api__AzVolumeAttachment *attachment);

enum node_lease_state {
    NODE_LEASE_LEFT, /* a former life of the plug-in may have it */
    NODE_LEASE_HELD,
    NODE_LEASE_FREE,
};

/* What is known when it has to be decided what comes next. */
struct node_lease_view {
    enum node_lease_state state;
    bool known;    /* the attachments have been read */
    bool wanted;   /* by one of them */
    bool stopping; /* the program */
    bool failed;   /* the last write */
    bool due;      /* a renewal period has passed since the last write began */
};

enum node_lease_step { NODE_LEASE_WAIT, NODE_LEASE_RENEW, NODE_LEASE_GIVE_UP, NODE_LEASE_END };

enum node_lease_step node_lease_plan(const struct node_lease_view *view);
