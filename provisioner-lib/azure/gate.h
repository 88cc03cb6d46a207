/* gate.h - where requests to Azure wait for their turn: the budget, with a queue before it.
 *
 * A request passes when each of its buckets has a token. Among those that wait for the same bucket
 * the more urgent goes first, then the one that came first; who waits for the bucket of one VM
 * holds up nobody else. Loop's thread; a wait yields.
 */
#pragma once

#include "lib/rt/wait.h"
#include "provisioner-lib/azure/budget.h"
#include "provisioner-lib/cloud.h"

struct gate;

struct gate *gate_new(struct loop *loop);
void gate_free(struct gate *gate); /* nobody may be waiting */
DEFINE_CLEANUP(struct gate, gate_free)

struct budget *gate_budget(struct gate *gate);

/* Returns when such a request could pass. What it is to say may be made up then, of all that has
 * come meanwhile. CANCELED. */
struct err *gate_wait(struct task *self, struct gate *gate, enum arm_kind kind,
                      const char *resource, enum cloud_urgency urgency)
    __attribute__((warn_unused_result));
/* Returns when the request may be sent, and counts it as sent. CANCELED. */
struct err *gate_pass(struct task *self, struct gate *gate, enum arm_kind kind,
                      const char *resource, enum cloud_urgency urgency)
    __attribute__((warn_unused_result));
