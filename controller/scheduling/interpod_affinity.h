/* interpod_affinity.h - where the pods are that a pod must be with, must not be with, or would
 * rather be with: Kubernetes' inter-pod affinity and anti-affinity.
 *
 * Worked out once for a pod, so that to judge a node costs little. The pods on the pod's own node
 * do not count: when it has to leave that node they have to as well, and who the pod must be with
 * may come along.
 */
#pragma once

#include "controller/scheduling/unschedulable_reason.h"
#include "lib/kube/store.h"

/* Pods are found by what terms say of them, so that a large cluster's others need not be looked at;
 * the two functions are those of the store's indexes. */
struct surroundings {
    const struct store *nodes, *namespaces;
    const struct store_index *pods_by_label;  /* by namespace, and within it by each label */
    const struct store_index *repelling_pods; /* with required anti-affinity, by whom it is about */
};

store_index_fn pod_index_by_label, pod_index_repelling;

struct affinity_rule;
struct affinity_rules {
    struct affinity_rule *items;
    size_t n;
};

struct interpod_affinity {
    const Api__Pod *pod;
    const Api__Node *current_node; /* may be NULL */
    struct affinity_rules affinity, anti_affinity, preferred;
};

/* All that is given must outlive the result. */
void interpod_affinity_find(const Api__Pod *pod, const Api__Node *current_node,
                            const struct surroundings *surroundings, struct interpod_affinity *ret);
void interpod_affinity_fini(struct interpod_affinity *affinity);

enum unschedulable_reason interpod_affinity_check(const struct interpod_affinity *affinity,
                                                  const Api__Node *node);
int interpod_affinity_score(const struct interpod_affinity *affinity, const Api__Node *node);

/* Never NULL. */
const Api__Affinity *pod_affinity_of(const Api__Pod *pod);
