/* replica_events.h - which volumes' replicas have to be planned anew, and when.
 *
 * Observes the informers' stores: nodes, plug-ins, attachments, pods and PersistentVolumes. What
 * can only make the places of some replicas worse concerns the volumes that have one there; what
 * can only make a place concerns the volumes that wait for one (replica/unschedulable.h). So a
 * change costs by what is on one node, not by the size of the cluster.
 */
#pragma once

#include "controller/controller.h"

/* Before the stores are filled. */
void replica_events_start(struct controller *controller);
void replica_events_stop(struct controller *controller);
