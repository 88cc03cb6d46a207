/* placement.h - on which nodes the replicas of a pod's volumes belong.
 *
 * A pure function. The volumes of a pod are placed together, for a failover to a node that has only
 * some of them has to wait for the cloud. Only node and slot facts are looked at; in which order
 * disks come and go is replica/plan.h's business.
 *
 * Guarantees, for any input:
 *   - as many replicas as can be are placed: if all can, all are, even where a replica has to make
 *     room for another one of the same pod (an assignment of volumes to slots, by augmenting
 * paths);
 *   - as many nodes as can be get a replica of every volume, as far as all want one;
 *   - a replica that is in a good place stays there, unless one of these two needs it to move;
 *   - no volume is placed twice on a node, on a node that has its primary or that it is leaving, on
 *     a node that refuses it, or where there is no slot for it;
 *   - equal snapshots give equal placements, whatever the order of nodes (ties are broken by name).
 *
 * What remains open is decided by: nodes that Azure may take away at any time (spot) come last;
 * fewer volumes in one zone, then one fault domain, then one node pool; what the pod prefers; free
 * slots; fewer volumes in use there.
 */
#pragma once

#include <stdbool.h>

#include "controller/scheduling/unschedulable_reason.h"
#include "provisioner-lib/parameters.h" /* MAX_SHARES_LIMIT */

/* A volume may for a moment have one more attachment than shares: a primary that waits for a
 * replica to give way. */
enum { MAX_ATTACHMENTS = MAX_SHARES_LIMIT + 2 };

struct placement_node {
    const char *name;
    const char *zone, *fault_domain, *pool; /* "" if there is none, or it is not known */
    bool spot;
    enum unschedulable_reason reason; /* of a new replica of any of the volumes */
    int preference;                   /* the pod's */
    unsigned free_slots;              /* data disks that the VM can still take */
    unsigned load;                    /* volumes in use there */
};

/* An attachment of a volume. */
struct placement_hold {
    size_t node; /* index into nodes */
    bool primary;
    bool leaving;
    bool useful; /* a replica that could be promoted, now or when its node is well again */
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
    size_t n;                       /* less than wanted: there is no place for more */
};

/* One placement for each volume. */
void placement_solve(const struct placement_snapshot *in, struct placement *ret);

/* Why a volume has no more places, given what placement_solve has found. */
void placement_explain(const struct placement_snapshot *in, const struct placement *found,
                       size_t volume, struct unschedulable_reasons *ret);
