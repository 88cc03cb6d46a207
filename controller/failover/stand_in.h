/* stand_in.h - the Node that takes the place of one that was deleted, for as long as Kubernetes
 * needs to detach its volumes.
 *
 * Kubernetes goes on for minutes to believe what kubelet last had in use, unless there is a Node
 * that says the contrary (docs/failover.md). It is what the deleted one was, but out of service
 * from the start: a kubelet that is started meanwhile finds its Node, registers with it, and makes
 * no other, so that it must lack nothing that kubelet sets only when it makes one. What the cloud's
 * node manager knows better, of a machine of that name, it is asked to set. Pure.
 */
#pragma once

#include <jansson.h>

#include "lib/kube/object.h"

/* In place of this one, which must have a boot id. */
json_t *stand_in_json(const struct kube_object *deleted);
/* Kubelet was started meanwhile, and the Node is its own: it has to stay. One that has run all the
 * time writes only its status. */
bool stand_in_is_registered(const struct kube_object *node);
