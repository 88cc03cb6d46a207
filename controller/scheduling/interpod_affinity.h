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

struct company_rule;
struct company_rules {
    struct company_rule *items;
    size_t n;
};

struct pod_company {
    const Api__Pod *pod;
    const Api__Node *home; /* may be NULL */
    struct company_rules with, without, preferred;
};

/* All that is given must outlive the result. */
void pod_company_find(const Api__Pod *pod, const Api__Node *home,
                      const struct surroundings *surroundings, struct pod_company *ret);
void pod_company_fini(struct pod_company *company);

enum refusal pod_company_judge(const struct pod_company *company, const Api__Node *node);
int pod_company_preference(const struct pod_company *company, const Api__Node *node);

/* Never NULL. */
const Api__Affinity *pod_affinity_of(const Api__Pod *pod);
