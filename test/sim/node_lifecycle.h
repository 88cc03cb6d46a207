/* node_lifecycle.h - what a cluster does about machines that have fallen silent:
 * kube-controller-manager's node lifecycle, taint eviction and pod garbage collection, and the
 * cloud's node controller.
 *
 * A node whose lease is stale is not ready; its pods are deleted when their toleration ends, and
 * stay, because nobody confirms their end, until the node comes back, or is deleted, or is marked
 * out of service.
 */
#pragma once

#include "lib/rt/task.h"

/* A task of the sim; `arg` is the world. */
void node_lifecycle_run(struct task *self, void *arg);
