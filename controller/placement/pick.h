/* pick.h - which node is proposed to the scheduler for a pod that waits at the gate.
 *
 * A pure function over the nodes that have any of the pod's disks, or are getting one. The order is
 * that of the score (provisioner-lib/placement/score.h), which the extender answers too; nodes that
 * the scheduler would refuse, as far as the driver can know, are left out, since a proposal that is
 * refused is none. It guarantees:
 *
 * - what is picked is healthy, not refused, and has a place for each disk of the pod;
 * - no other such node has a higher score; of equal ones the pod's own preference counts, then that
 *   fewer disks have to become primaries, then the number of free places;
 * - the result does not depend on the order of the nodes.
 */
#pragma once

#include <stddef.h>

#include "controller/scheduling/unschedulable_reason.h"
#include "provisioner-lib/placement/score.h"

struct pick_node {
    const char *name;
    struct score_node disks;
    enum unschedulable_reason refusal; /* UNSCHEDULABLE_NONE: Kubernetes would take it */
    int preference;                    /* the pod's; the higher the better */
    unsigned joining; /* disks of the pod that are not primaries there yet: each takes a place */
    unsigned places;  /* for primaries; replicas give way to them */
};

enum pick_result {
    PICK_NODE,
    PICK_NO_VOLUME,     /* the pod has no volume of ours that one node at a time uses */
    PICK_NO_ATTACHMENT, /* they are attached nowhere */
    PICK_UNHEALTHY,     /* nodes have them, but none of these is well */
    PICK_REFUSED,       /* the scheduler would take none of those that are well */
    PICK_NO_PLACE,      /* those that it would take are full */
    PICK_HELD,          /* nothing is picked for the pod as long as others hold it back */
    N_PICK_RESULTS,
};

struct pick {
    enum pick_result result;
    size_t node; /* of PICK_NODE: its index */
};

/* `n_disks`: of the pod's volumes that count. */
struct pick pick_node(const struct pick_node *nodes, size_t n_nodes, unsigned n_disks);

/* The result as logs and metrics spell it: "NoReplica". */
const char *pick_result_word(enum pick_result result);
