/* reconcile.h - whom a change concerns that may be one to recover from; the reconciler itself takes
 * the steps of recovery/plan.h.
 */
#pragma once

#include "controller/controller.h"

/* The volume is looked at. A PersistentVolume or VolumeAttachment of another driver is none of
 * ours. */
void recovery_of_pv(struct controller *controller, const struct kube_object *pv);
void recovery_of_volume_attachment(struct controller *controller,
                                   const struct kube_object *volume_attachment);

/* What Kubernetes has on a node that has come or changed. It may have been deleted and made anew,
 * with no word from those who publish: to them the volumes have been there all the time. */
void recovery_of_node(struct controller *controller, const char *node);

/* Every volume that Kubernetes knows. */
void recovery_of_all(struct controller *controller);
