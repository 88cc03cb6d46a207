/* interpod_affinity.h - Kubernetes' inter-pod affinity and anti-affinity: where the pods are that a
 * pod must be with, must not be with, or prefers to be with.
 *
 * Computed once per pod, so that checking a node is cheap. The pods on the pod's own node do not
 * count: if the pod has to leave that node, so do they, and a pod that it must be with may move
 * along.
 *
 * The loop stands still meanwhile, and any tenant may write terms: those of a pod that take too
 * many comparisons count for nothing, nor do those that keep others away if they are very long.
 */
#pragma once

#include "controller/scheduling/unschedulable_reason.h"
#include "lib/kube/store.h"

/* What the terms are compared with. The indexes spare reading all pods of a large cluster; their
 * functions are those below. */
struct surroundings {
    const struct store *nodes, *namespaces;
    const struct store_index *pods_by_label; /* by namespace, and within it by each label */
    const struct store_index
        *repelling_pods; /* those with required anti-affinity, by the labels it names */
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
    size_t compared; /* bytes of its terms, with each pod and each namespace anew */
};

/* All arguments must outlive the result. */
void interpod_affinity_find(const Api__Pod *pod, const Api__Node *current_node,
                            const struct surroundings *surroundings, struct interpod_affinity *ret);
void interpod_affinity_fini(struct interpod_affinity *affinity);

enum unschedulable_reason interpod_affinity_check(const struct interpod_affinity *affinity,
                                                  const Api__Node *node);
int interpod_affinity_score(const struct interpod_affinity *affinity, const Api__Node *node);

/* Never NULL. */
const Api__Affinity *pod_affinity_of(const Api__Pod *pod);
