/* node_repair.h - what people, or programs of theirs, see to where nodes are failed over: a machine
 * that was given up and runs is started anew, and so is a pod whose disk refuses its writes.
 */
#pragma once

#include "lib/rt/task.h"

/* A task of the sim; `arg` is the world. */
void node_repair_run(struct task *self, void *arg);
