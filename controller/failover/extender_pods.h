/* extender_pods.h - the scheduler extender's pods on a node that is failed over.
 *
 * kube-scheduler, and the API server for the webhook, call any pod of the extender's Service.
 * Kubernetes takes the pods of a silent node out of it after 40 s or more. The node's pods are
 * released much sooner, and would be scheduled without advice, wherever that is. A pod that is
 * deleted is taken out at once, and its Deployment makes another one elsewhere.
 *
 * For failover/reconcile.c.
 */
#pragma once

#include "controller/controller.h"

/* Those of settings.scheduler_extender. It is advice: a failure is logged, and holds up nothing. */
void extender_pods_delete(struct task *self, struct controller *controller, const char *node);
