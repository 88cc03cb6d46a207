/* proof.h - whether the attachment of a replica proves that the disk refuses the writes of a node
 * whose key its node was asked to preempt (docs/failover.md). Pure.
 */
#pragma once

#include "lib/kube/object.h"

/* Whether its node has answered this request; `request` may be NULL. */
bool preempt_is_answered(const struct kube_object *replica, const char *request);

/* The same, and it has the fence, and the disk for as long as it is needed. */
bool preempt_is_proven(const struct kube_object *replica, const char *request);
