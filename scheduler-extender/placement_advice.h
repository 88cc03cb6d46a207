/* placement_advice.h - what the cluster has to say to a new pod.
 *
 * Advice is for pods with a volume of ours that several pods cannot use at once and of which a node
 * has the disk, or is getting it. All nodes are alike to any other pod. Loop's thread; nothing here
 * yields.
 */
#pragma once

#include "scheduler-extender/extender.h"
#include "scheduler-extender/placement_patch.h"

/* The patch, or NULL: none. A gate is added only with `may_gate`: somebody is there to propose a
 * node, and to take the gate away. */
json_t *placement_advise(const struct extender *extender, const struct placement_rules *rules,
                         bool may_gate, const struct admission_review *review);
