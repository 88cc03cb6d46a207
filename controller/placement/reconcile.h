/* reconcile.h - pods that wait at the gate (provisioner-lib/records/placement_gate.h): a node is
 * proposed to the scheduler for each, and the gate goes.
 *
 * The pod is the scheduler's, the proposal only advice: whatever fails, and if no node can be
 * proposed, the gate goes all the same. reconcile_placement() does one pod ("namespace/name"); only
 * with --placement=nominate. Calls are short, and what fails is tried again within a second for as
 * long as there is the gate: nobody may have to wait for us.
 */
#pragma once

#include "controller/controller.h"

/* What a leader needs for it; nothing without --placement=nominate. */
void placement_start(struct controller *controller);
void placement_stop(struct controller *controller);

/* A pod has changed, or a leader has begun to lead. */
void placement_of_pod(const struct controller *controller, const struct kube_object *pod);
void placement_of_all(const struct controller *controller);
