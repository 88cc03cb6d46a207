/* verbs.h - the two verbs of a scheduler extender, prioritize and filter, answered from the cache.
 *
 * The answers are advice. Whatever is not known yet (a cache that is not complete, a claim without
 * a volume, a volume of another driver) leaves every node allowed and all scores equal, so a pod is
 * scheduled as if there were no extender. Loop's thread; nothing here yields.
 */
#pragma once

#include "lib/api/azdisk.pb-c.h"
#include "scheduler-extender/extender.h"

/* How much of a disk is on the node of an attachment. A replica that its node reports as not ready
 * is as good as none: a pod would have to wait there until somebody has found out why. */
enum presence { PRESENCE_NONE, PRESENCE_ATTACHING, PRESENCE_ATTACHED };
enum presence attachment_presence(const Api__AzVolumeAttachment *attachment);

/* A score (score.h) for each node. Volumes that several nodes may use at once do not count: where
 * they are attached other pods use them, and to follow those would put all pods on one node. */
void extender_prioritize(const struct extender *extender, const Api__Pod *pod,
                         const char *const *nodes, size_t n_nodes, unsigned *ret_scores);

/* Whether each node may take the pod: not if the pod has a volume of ours and the node's plug-in
 * has just said that it is not ready. */
void extender_filter(const struct extender *extender, const Api__Pod *pod, const char *const *nodes,
                     size_t n_nodes, bool *ret_allowed);
