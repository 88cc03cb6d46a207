/* plan.h - how the replicas of one volume get to the nodes that scheduling/placement.h has chosen.
 *
 * A pure function: it reads a snapshot and fills in a plan. It performs no I/O, has no clock and
 * cannot yield, so every situation that a volume can be in is one row of a test table
 * (test_plan.c), and the simulation can call it millions of times. The reconciler gathers the
 * snapshot and carries out the plan.
 *
 * Guarantees, for any input:
 *   - a plan never brings the disk above max_shares attachments, those that are still leaving
 *     included;
 *   - the primary is neither released nor attached a second time;
 *   - a replica on the wrong node is released only if there are more replicas than wanted, or if
 *     another one takes its place: after the new one is attached if the disk has a share left,
 *     otherwise before. If no other node can take the replica, it stays, because an unreachable
 *     node may come back with the disk still attached. A replica that is neither attached nor
 *     useful is released immediately;
 *   - nothing is attached before the cloud has begun to attach the primary, while data is copied to
 * the disk, or to a node without a free slot;
 *   - equal snapshots give equal plans, whatever the order of attachments.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "controller/scheduling/placement.h"

struct replica_attachment {
    const char *node;
    bool primary;
    bool leaving; /* being detached: still holds a share */
    bool attached;
    bool useful; /* a replica that could be promoted */
};

/* A node where placement wants a replica, whether there is one or not. */
struct replica_target {
    const char *node;
    bool has_slot; /* false: it will have one when another volume has left */
};

struct replica_snapshot {
    const struct replica_attachment *attachments;
    size_t n_attachments;
    const struct replica_target *targets; /* best first; at most `wanted` */
    size_t n_targets;
    unsigned wanted;     /* by replicas_wanted */
    bool may_attach;     /* the primary, which comes first, is being attached, or is attached */
    bool copying;        /* data is still copied to the disk */
    unsigned max_shares; /* of the disk, at most MAX_SHARES_LIMIT */
};

enum replica_shortfall {
    REPLICAS_COMPLETE,     /* all exist, or are being attached */
    REPLICAS_NO_NODE,      /* no other node can take one */
    REPLICAS_WAIT_RELEASE, /* a share becomes free when a detach has finished */
    REPLICAS_WAIT_COPY,    /* the disk has all its data before more VMs have it */
    REPLICAS_WAIT_SLOT,    /* a slot becomes free when another volume of the pod has moved */
};

struct replica_plan {
    size_t attach[MAX_ATTACHMENTS]; /* indexes of targets, best first */
    size_t n_attach;
    size_t release[MAX_ATTACHMENTS]; /* indexes of attachments, most dispensable first */
    size_t n_release;
    enum replica_shortfall shortfall;
};

/* How many of the `requested` replicas the disk can have beside its primaries. */
unsigned replicas_wanted(unsigned requested, unsigned primaries, unsigned max_shares);

void replica_decide(const struct replica_snapshot *in, struct replica_plan *plan);
