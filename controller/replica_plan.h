/* replica_plan.h - which nodes should hold the replicas of one volume.
 *
 * A pure function: it reads a snapshot and fills in a plan. It performs no I/O, has no clock and
 * cannot yield, so every situation that a cluster can be in is one row of a test table
 * (test/test_replica_plan.c), and the simulation can call it millions of times. Gathering the
 * snapshot and carrying the plan out is the reconciler's business.
 *
 * Guarantees, for any input:
 *   - a plan never brings the disk above max_shares attachments, those that are still leaving
 * included;
 *   - the primary is neither released nor attached a second time;
 *   - a replica that is of use is released only when there are more than wanted; one that is of
 *     no use now, because its node is silent, is released only when there are more than wanted or
 *     another node can take its place: the node may come back with the disk still attached;
 *   - equal snapshots give equal plans, whatever the order of nodes (ties are broken by name).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "provisioner-lib/parameters.h" /* MAX_SHARES_LIMIT */

/* A volume may for a moment have one more attachment than shares: a primary that waits for a
 * replica to give way. */
enum { MAX_ATTACHMENTS = MAX_SHARES_LIMIT + 2 };

struct replica_node {
    const char *name;
    const char *zone;       /* "" on a regional VM */
    bool ready;             /* plug-in heartbeat fresh and node Ready */
    bool schedulable;       /* the pod may run here: selector, affinity, taints, not cordoned */
    unsigned free_slots;    /* data disks that the VM can still take */
    unsigned sibling_disks; /* attachments here of other volumes of the same pod */
};

struct replica_attachment {
    size_t node; /* index into nodes */
    bool primary;
    bool leaving; /* detach under way: still counts as a share */
};

struct replica_snapshot {
    const struct replica_node *nodes;
    size_t n_nodes;
    const struct replica_attachment *attachments;
    size_t n_attachments;
    unsigned wanted;     /* maxMountReplicaCount, 0 once the volume is to have none */
    bool may_attach;     /* the primary is attached: replicas come after it */
    unsigned max_shares; /* of the disk, at most MAX_SHARES_LIMIT */
    const char *zone;    /* of the disk; "" when any zone can attach it (ZRS, regional) */
};

enum replica_shortfall {
    REPLICAS_COMPLETE,     /* wanted, or on the way to it */
    REPLICAS_NO_NODE,      /* no other node can take one */
    REPLICAS_WAIT_RELEASE, /* a share becomes free when a detach has finished */
};

struct replica_plan {
    size_t attach[MAX_ATTACHMENTS]; /* node indexes, best first */
    size_t n_attach;
    size_t release[MAX_ATTACHMENTS]; /* node indexes, most dispensable first */
    size_t n_release;
    enum replica_shortfall shortfall;
};

void replica_decide(const struct replica_snapshot *in, struct replica_plan *plan);
