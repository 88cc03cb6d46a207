/* pod_owner.h - who would make a pod again that was evicted.
 *
 * Pure, but for pod_owner_read.
 */
#pragma once

#include <jansson.h>

#include "lib/kube/client.h"

enum pod_kind {
    POD_MOVABLE, /* its controller makes another one, on any node */
    POD_BOUND,   /* to its node: a DaemonSet's, or kubelet's own */
    POD_ALONE,   /* nobody makes it again */
};

enum pod_kind pod_kind_of(const Api__Pod *pod);
/* Its controller; NULL if it has none. Borrowed. */
const Api__OwnerReference *pod_controller(const Api__Pod *pod);

/* Why the owner, as the API server has it (NULL: not at all), would not make the pod again; NULL if
 * it would. free() it. */
char *pod_owner_refusal(const Api__OwnerReference *reference, const json_t *owner);

/* The labels by which an owner knows its pods, "app=db,tier=one"; NULL if it says none, or more
 * than fit into a request. free() it. */
char *pod_owner_selector(const json_t *owner);

/* The owner of a kind that Kubernetes has itself; `ret_known` false of any other, which is taken at
 * its word. `ret` is NULL if there is none. */
struct err *pod_owner_read(struct task *self, struct kube *kube, const char *namespace_,
                           const Api__OwnerReference *reference, bool *ret_known, json_t **ret)
    __attribute__((warn_unused_result));
