/* replica_events.h - which volumes' replicas a changed object triggers.
 *
 * Observes the informers' stores: nodes, plug-ins, attachments, pods and PersistentVolumes. A
 * change that can only make a node worse triggers the volumes with a replica there; a change that
 * can only make room triggers the volumes that wait for it (replica/unschedulable.h). So the cost
 * of a change depends on what is on one node, not on the size of the cluster.
 */
#pragma once

#include "controller/controller.h"

/* Call before the stores are filled. */
void replica_events_start(struct controller *controller);
void replica_events_stop(struct controller *controller);
