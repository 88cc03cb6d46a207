/* drain.h - `azdiskctl drain NODE`: cordons a node and moves its pods with volumes of this driver
 * to nodes that have replicas, as far as there are any.
 *
 * In the order of drain_plan.h, one after the other. Pods without such volumes, of DaemonSets and
 * of kubelet's own stay. The node stays cordoned, as with kubectl drain.
 */
#pragma once

#include "azdiskctl/cluster.h"
#include "azdiskctl/steps.h"
#include "lib/base/buffer.h"

struct drain_config {
    struct kube *kube;
    struct cluster_query query; /* of the node's pods in all namespaces */
    bool dry_run;
    uint64_t timeout_ms;
    struct steps *steps;
};

/* NOT_FOUND if there is no such node. */
struct err *drain_json(struct task *self, const struct drain_config *config, json_t **ret)
    __attribute__((warn_unused_result));
/* Every pod has moved, and the pod in its place is ready; or nothing was to be done. */
bool drain_is_complete(const json_t *drain);
void drain_text(const json_t *drain, struct buffer *out);
