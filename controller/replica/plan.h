/* plan.h - how the replicas of one volume come to where scheduling/placement.h wants them.
 *
 * A pure function: it reads a snapshot and fills in a plan. It performs no I/O, has no clock and
 * cannot yield, so every situation that a volume can be in is one row of a test table
 * (test_plan.c), and the simulation can call it millions of times. Gathering the snapshot
 * and carrying the plan out is the reconciler's business.
 *
 * Guarantees, for any input:
 *   - a plan never brings the disk above max_shares attachments, those that are still leaving
 *     included;
 *   - the primary is neither released nor attached a second time;
 *   - a replica that is not where it belongs is released only when there are more than wanted, or
 *     another one takes its place: after that one is attached, if the disk has a share left for it,
 *     else before. Where nobody can take its place it stays: a silent node may come back with the
 *     disk still attached. What is neither attached nor of any use goes at once;
 *   - nothing is attached before the primary is, or where there is no slot yet;
 *   - equal snapshots give equal plans, whatever the order of attachments.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "controller/scheduling/placement.h"

struct replica_attachment {
    const char *node;
    bool primary;
    bool leaving;  /* detach under way: still counts as a share */
    bool attached; /* what it is for is done */
    bool useful;   /* a replica that could be promoted */
};

/* A node where placement wants a replica, whether there is one or not. */
struct replica_target {
    const char *node;
    bool has_slot; /* or will have one only when another volume has left */
};

struct replica_snapshot {
    const struct replica_attachment *attachments;
    size_t n_attachments;
    const struct replica_target *targets; /* best first; at most `wanted` */
    size_t n_targets;
    unsigned wanted;     /* by replicas_wanted */
    bool may_attach;     /* the primary is attached: replicas come after it */
    unsigned max_shares; /* of the disk, at most MAX_SHARES_LIMIT */
};

enum replica_shortfall {
    REPLICAS_COMPLETE,     /* wanted, or on the way to it */
    REPLICAS_NO_NODE,      /* no other node can take one */
    REPLICAS_WAIT_RELEASE, /* a share becomes free when a detach has finished */
    REPLICAS_WAIT_SLOT,    /* a slot becomes free when another volume of the pod has moved */
};

struct replica_plan {
    size_t attach[MAX_ATTACHMENTS]; /* indexes of targets, best first */
    size_t n_attach;
    size_t release[MAX_ATTACHMENTS]; /* indexes of attachments, most dispensable first */
    size_t n_release;
    enum replica_shortfall shortfall;
};

/* How many replicas a disk can have beside its primaries, of those that its owner would like. */
unsigned replicas_wanted(unsigned wish, unsigned primaries, unsigned max_shares);

void replica_decide(const struct replica_snapshot *in, struct replica_plan *plan);
