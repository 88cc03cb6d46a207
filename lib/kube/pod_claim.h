/* pod_claim.h - the PersistentVolumeClaims that a pod uses.
 */
#pragma once

#include "lib/api/kubernetes.pb-c.h"

/* The key ("namespace/name") of the claim behind a volume of the pod; NULL if it is of another
 * kind. free() it. */
char *pod_claim_key(const Api__Pod *pod, const Api__Volume *volume)
    __attribute__((warn_unused_result));
