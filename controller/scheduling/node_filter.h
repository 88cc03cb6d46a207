/* node_filter.h - on which nodes Kubernetes would run a pod, as far as the pod's own
 * constraints decide it.
 *
 * Pure: it looks at messages only, and equal ones give equal answers. What concerns other pods is
 * worked out once for all nodes, so that to judge a node costs little. The semantics are those of
 * kube-scheduler's filters NodeUnschedulable, TaintToleration, NodeAffinity, VolumeBinding and
 * InterPodAffinity, seen from the moment at which they matter: when the pod has lost its node.
 * Therefore
 *   - spec.nodeName is no constraint, it says where the pod is;
 *   - the other pods on that node do not count, since they have to go elsewhere as well; what the
 *     pod must be with may come along;
 *   - the taints not-ready and unreachable are ignored: whether a node is well is told by others.
 */
#pragma once

#include "controller/scheduling/interpod_affinity.h"
#include "controller/scheduling/unschedulable_reason.h"

struct node_filter;

/* `pod` NULL: nothing is known of it, then only what holds for every pod is asked. `current_node`,
 * the node that it is on, may be NULL. `volumes` are the node selectors of its PersistentVolumes.
 * All must outlive the result. */
struct node_filter *node_filter_new(const Api__Pod *pod, const Api__Node *current_node,
                                    const Api__NodeSelector *const *volumes, size_t n_volumes,
                                    const struct surroundings *surroundings);
void node_filter_free(struct node_filter *filter);
DEFINE_CLEANUP(struct node_filter, node_filter_free)

enum unschedulable_reason node_filter_check(const struct node_filter *filter,
                                            const Api__Node *node);
/* Of two nodes that both will do, Kubernetes likes the one with more better. */
int node_filter_score(const struct node_filter *filter, const Api__Node *node);
