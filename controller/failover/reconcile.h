/* reconcile.h - whom a change concerns of the nodes that may have to be given up.
 *
 * For routing/object_events.h. Nothing unless this process leads, with --node-grace-period.
 */
#pragma once

#include "controller/controller.h"

void failover_of_node(const struct controller *controller, const char *node);
/* A replica's node may have answered. Either may be NULL. */
void failover_of_attachment(const struct controller *controller, const struct kube_object *before,
                            const struct kube_object *after);
/* Which pods use it may be known only now: by its AzVolume, or its PersistentVolume. */
void failover_of_volume(const struct controller *controller, const char *volume);
/* One that has come to a node that was given up, just before that, or asks for failover. */
void failover_of_pod(const struct controller *controller, const struct kube_object *pod);
