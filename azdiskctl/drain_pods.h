/* drain_pods.h - the pods of a node that a drain has to move, and how each of them stands.
 */
#pragma once

#include "azdiskctl/dependency_chain.h"
#include "azdiskctl/drain_plan.h"
#include "lib/base/string_set.h"

struct drain_candidate {
    const struct kube_object *pod;
    struct dependency_chains chains;
    const char *to; /* the best node with replicas; NULL: none */
    char *why;      /* what is in its way; NULL: nothing */
};

struct drain_pods {
    struct cluster cluster; /* what the rest borrows from */
    struct drain_candidate *items;
    struct drain_pod *facts; /* beside the items */
    size_t n;
};

/* NOT_FOUND if the node of the query does not exist. Call drain_pods_fini whatever comes of it. */
struct err *drain_pods_read(struct task *self, struct kube *kube, const struct cluster_query *query,
                            uint64_t heartbeat_limit_ms, struct drain_pods *ret)
    __attribute__((warn_unused_result));
void drain_pods_fini(struct drain_pods *pods);

/* Of a cluster that was read, which is the caller's no more. Pure. */
void drain_pods_find(struct drain_pods *pods, const char *node);
/* By the uids of pods that a budget keeps, and of those that cannot be evicted. Pure. */
void drain_pods_mark(struct drain_pods *pods, const struct string_set *blocked,
                     const struct string_set *given_up);
