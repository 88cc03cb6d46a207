/* scheduler.h - kube-scheduler: places pods on nodes.
 *
 * A node must be ready and not cordoned, have room for the pod's volumes as its CSINode says, be in
 * a zone of each of them, and suit the pod's own constraints; those with the volumes' replicas come
 * first, as the driver's extender would have it, or the leader for pods at the gate (gate.h). A
 * volume that is not made yet is made in the zone of a node that suits (WaitForFirstConsumer), and
 * the pod waits. When the cluster is too small for a pod, cluster-autoscaler adds a machine.
 */
#pragma once

#include <stdbool.h>

#include "lib/rt/task.h"

struct machine;
struct pod;

/* A task of the sim; `arg` is the world. */
void scheduler_run(struct task *self, void *arg);

/* Whether another pod of the same workload is there. */
bool machine_has_sibling(const struct machine *machine, const struct pod *pod);
