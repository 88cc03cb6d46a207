/* reconcile.h - queues the volumes that may need recovery after a change; the reconciler itself
 * takes the steps of recovery/plan.h.
 */
#pragma once

#include "controller/controller.h"

/* Queues the volume; ignores a PersistentVolume or VolumeAttachment of another driver. */
void recovery_of_pv(struct controller *controller, const struct kube_object *pv);
void recovery_of_volume_attachment(struct controller *controller,
                                   const struct kube_object *volume_attachment);

/* Queues the volumes that Kubernetes has on a node that was added or changed. If a Node is deleted
 * and created again, Kubernetes does not publish its volumes again. */
void recovery_of_node(struct controller *controller, const char *node);

/* Queues the volumes of all disks that have the name of the AzVolume's: with it on record, or gone,
 * they have other names. */
void recovery_of_name(struct controller *controller, const char *volume_name);

/* Queues every volume that Kubernetes knows. */
void recovery_of_all(struct controller *controller);
