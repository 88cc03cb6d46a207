/* placement_patch.h - what becomes of a new pod: nothing, a scheduling gate, or preferred nodes.
 *
 * Pure functions of the pod and of what is configured; where its disks are is asked by
 * placement_advice.h.
 */
#pragma once

#include "scheduler-extender/admission_review.h"

enum placement_mode {
    PLACEMENT_NONE,
    PLACEMENT_NOMINATE, /* a gate, until the leader has proposed a node */
    PLACEMENT_WEBHOOK,  /* preferred nodes in the pod's affinity */
};

struct placement_rules {
    int mode;                                          /* enum placement_mode */
    const char *scheduler_names, *excluded_namespaces; /* lists, with commas */
};

/* Whether advice is for this pod at all. Not if it has its node already, by name or as a pod of a
 * DaemonSet; if it is not for a scheduler of the list, or in a namespace that is excluded; or if it
 * is gated: by us, so that it has been here before, or by somebody who will let it go when what is
 * known now is old. */
bool placement_concerns(const struct placement_rules *rules, const struct admission_review *review);

/* JSON patches of the pod. */
json_t *placement_gate_patch(void);

enum { PREFERRED_NODES = 16 }; /* at most: each is a term of the affinity */

struct preferred_node {
    const char *name;
    unsigned weight; /* 1 to 100 */
};

/* Adds a term for each node that the pod's own terms do not name already, so that nobody's word is
 * weakened, nor a term added twice. NULL if nothing is left. */
json_t *placement_preference_patch(const struct admission_review *review,
                                   const struct preferred_node *nodes, size_t n);
