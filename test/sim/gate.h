/* gate.h - pods that wait at the gate (provisioner-lib/records/placement_gate.h), and who adds and
 * removes gates beside the leader: a webhook; keepers, which take away what is overdue, in some
 * landscapes; and somebody else, with a gate of his own.
 */
#pragma once

#include <jansson.h>

#include "lib/rt/task.h"
#include "test/sim/machine.h"
#include "test/sim/pod.h"

#define FOREIGN_GATE "example.com/quota"

/* Of a pod that is made: its schedulingGates; NULL: it has none. */
json_t *gates_of_new_pod(struct pod *pod);
/* No scheduler looks at it. */
bool pod_waits_at_gate(const struct pod *pod);
/* The machine that is proposed for it; NULL: none, or none of that name. */
struct machine *pod_nominated_machine(const struct pod *pod);

/* A pod has changed: which gates it has now. Must not write. */
void gates_see(struct world *world, const json_t *after);
bool gates_have(const json_t *pod, const char *name);

/* The keepers and the other one, a task of the sim; `arg` is the world. */
void gates_run(struct task *self, void *arg);
