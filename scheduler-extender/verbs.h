/* verbs.h - the two verbs of a scheduler extender, prioritize and filter, answered from the cache.
 *
 * The answers are advice. A pod of which no disk is known (a cache that is not complete, a claim
 * without a volume, a volume of another driver) has every node allowed and all scores equal: it is
 * scheduled as if there were no extender. So is, by one verb, a pod for which all nodes are alike;
 * the nodes' names are looked at only if there is a difference. Loop's thread; nothing here yields.
 */
#pragma once

#include "scheduler-extender/extender.h"
#include "scheduler-extender/pod_disks.h"

/* Whether nodes may differ to the verb. */
bool extender_may_prefer(const struct extender *extender, const struct pod_disks *disks);
bool extender_may_refuse(const struct extender *extender, const struct pod_disks *disks);

/* A score (score.h) for each node. Volumes that several nodes may use at once do not count: where
 * they are attached other pods use them, and to follow those would put all pods on one node. */
void extender_prioritize(const struct extender *extender, const struct pod_disks *disks,
                         const struct named *nodes, size_t n_nodes, unsigned *ret_scores);

/* Whether each node may take the pod: not if the pod has a volume of ours and the node's plug-in
 * has just said that it is not ready. */
void extender_filter(const struct extender *extender, const struct pod_disks *disks,
                     const struct named *nodes, size_t n_nodes, bool *ret_allowed);
