/* replica_request.h - asks for replicas of a pod's volumes on a node that has none.
 *
 * Each is an AzVolumeAttachment as the controller makes them, with a time until which it is asked
 * for. The controller attaches it, and lets another replica give way if there are too many
 * (controller/scheduling/placement.h), or takes it away again if the pod could not run there.
 */
#pragma once

#include "azdiskctl/dependency_chain.h"
#include "azdiskctl/steps.h"
#include "lib/kube/client.h"

/* PRECONDITION, with the reason, if the records do not allow it. Pure. */
struct err *replica_request_check(const struct cluster *cluster,
                                  const struct dependency_chains *chains, const char *node)
    __attribute__((warn_unused_result));

/* For those of the pod's volumes that have none there. */
struct err *replica_request_make(struct task *self, struct kube *kube, struct steps *steps,
                                 const char *object_namespace,
                                 const struct dependency_chains *chains, const char *node,
                                 int64_t until_us) __attribute__((warn_unused_result));
