/* kept_fence.h - which attachment may not be detached yet, because the fence of its node is what
 * keeps a node that was given up from writing (docs/failover.md).
 */
#pragma once

#include "controller/controller.h"

/* Whether `going`, which is being detached, or would be, waits for another attachment of the same
 * volume to be gone. Reads caches only. */
bool keeps_fence(const struct controller *controller, const struct kube_object *going);
