/* placement.h - on which nodes the replicas of a pod's volumes belong.
 *
 * A pure function. The volumes of a pod are placed together, because a failover to a node that has
 * only some of them has to wait for the cloud. Placement considers nodes and slots only;
 * replica/plan.h decides in which order disks are attached and detached.
 *
 * Guarantees, for any input:
 *   - as many replicas as possible are placed: if all can be placed, all are, even if a replica has
 *     to make room for another one of the same pod (volumes are assigned to slots by augmenting
 *     paths);
 *   - as many nodes as possible get a replica of every volume, as far as all volumes want one;
 *   - a useful replica stays where it is, unless it has to move for one of the two rules above, or
 *     gives way to one that was asked for on another node;
 *   - a volume is never placed twice on a node, or on a node that has its primary, that it is
 *     leaving, that is unschedulable for it, or that has no slot for it;
 *   - equal snapshots give equal placements, whatever the order of nodes (ties are broken by name).
 *
 * Among the placements that remain, these criteria decide, in this order: no node that Azure may
 * evict at any time (spot); fewer volumes in one zone, then in one fault domain, then in one node
 * pool; the pod's preferences; more free slots; fewer volumes in use on the node.
 */
#pragma once

#include <stdbool.h>

#include "controller/scheduling/unschedulable_reason.h"
#include "provisioner-lib/parameters.h" /* MAX_SHARES_LIMIT */

/* For a moment, a volume may have more attachments than shares: a primary that waits for a replica
 * to give way. */
enum { MAX_ATTACHMENTS = MAX_SHARES_LIMIT + 2 };

struct placement_node {
    const char *name;
    const char *zone, *fault_domain, *pool; /* "" if there is none, or it is not known */
    bool spot;
    enum unschedulable_reason reason; /* why it cannot take a new replica of any of the volumes */
    int preference;                   /* node_filter_score of the pods */
    unsigned free_slots;              /* data disks that the VM can still take */
    unsigned load;                    /* volumes in use there */
};

/* An attachment of a volume. */
struct placement_hold {
    size_t node; /* index into nodes */
    bool primary;
    bool leaving;
    bool useful; /* a replica that could be promoted, now or when its node is ready again */
    bool asked;  /* somebody has asked for it to be there */
};

struct placement_volume {
    const char *zone; /* of the disk; "" when any zone can attach it (ZRS, regional) */
    unsigned wanted;  /* replicas; at most MAX_SHARES_LIMIT */
    const struct placement_hold *holds;
    size_t n_holds;
};

struct placement_snapshot {
    const struct placement_node *nodes;
    size_t n_nodes;
    const struct placement_volume *volumes; /* of one pod */
    size_t n_volumes;
};

/* Of one volume. */
struct placement {
    size_t nodes[MAX_SHARES_LIMIT]; /* indexes, best first */
    size_t n;                       /* fewer than wanted if there is no room for more */
};

/* One placement for each volume. */
void placement_solve(const struct placement_snapshot *in, struct placement *ret);

/* Why a volume has fewer places than wanted, given the result of placement_solve. */
void placement_explain(const struct placement_snapshot *in, const struct placement *found,
                       size_t volume, struct unschedulable_reasons *ret);
