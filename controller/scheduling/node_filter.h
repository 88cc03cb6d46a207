/* node_filter.h - on which nodes Kubernetes could run a pod, according to the pod's own
 * constraints.
 *
 * Pure: it reads only messages, and equal messages give equal results. What depends on other pods
 * is computed once for all nodes, so that checking a node is cheap. The semantics are those of
 * kube-scheduler's filters NodeUnschedulable, TaintToleration, NodeAffinity, VolumeBinding and
 * InterPodAffinity at the moment at which they matter: when the pod has lost its node. Therefore
 *   - spec.nodeName is not a constraint; it says where the pod is;
 *   - the other pods on that node do not count, because they have to move too; a pod that this one
 *     must be with may move along;
 *   - the taints not-ready and unreachable are ignored: node_info.h decides whether a node is
 * ready.
 *
 * Any tenant may write constraints as large as an object may be, and each node is compared with all
 * of them: a pod with more than anybody needs is judged as if it were unknown.
 */
#pragma once

#include "controller/scheduling/interpod_affinity.h"
#include "controller/scheduling/unschedulable_reason.h"

struct node_filter;

/* `pod` NULL: the pod is unknown, and only what applies to every pod is checked. `current_node`, on
 * which the pod is, may be NULL. `volumes` are the node selectors of its PersistentVolumes. All
 * arguments must outlive the result. */
struct node_filter *node_filter_new(const Api__Pod *pod, const Api__Node *current_node,
                                    const Api__NodeSelector *const *volumes, size_t n_volumes,
                                    const struct surroundings *surroundings);
void node_filter_free(struct node_filter *filter);
DEFINE_CLEANUP(struct node_filter, node_filter_free)

enum unschedulable_reason node_filter_check(const struct node_filter *filter,
                                            const Api__Node *node);
/* Kubernetes prefers the node with the higher score. */
int node_filter_score(const struct node_filter *filter, const Api__Node *node);
