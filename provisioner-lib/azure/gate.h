/* gate.h - where requests to Azure wait for their turn: one queue before the budget and the
 * connections.
 *
 * A request passes when each of its buckets has a token and a connection is free, which it keeps
 * until it leaves. Among those that wait for the same the more urgent goes first, then the one that
 * came first; who waits for the bucket of one VM holds up nobody else. Nothing waits behind the
 * gate, so that a request's time is what Azure takes. Loop's thread; a wait yields.
 */
#pragma once

#include "lib/rt/wait.h"
#include "provisioner-lib/azure/budget.h"
#include "provisioner-lib/cloud.h"

struct gate;

struct gate *gate_new(struct loop *loop, unsigned connections);
void gate_free(struct gate *gate); /* nobody may be waiting */
DEFINE_CLEANUP(struct gate, gate_free)

/* What would pass. */
struct gate_request {
    struct budget *budget; /* of its subscription */
    enum arm_kind kind;
    const char *resource; /* as in budget.h */
    const enum cloud_urgency *urgency;
};

/* Returns when such a request could pass. What it is to say may be made up then, of all that has
 * come meanwhile. CANCELED. */
struct err *gate_wait(struct task *self, struct gate *gate, const struct gate_request *request)
    __attribute__((warn_unused_result));
/* Returns when the request may be sent, and counts it as sent. CANCELED, and then it has no
 * connection. */
struct err *gate_pass(struct task *self, struct gate *gate, const struct gate_request *request)
    __attribute__((warn_unused_result));
/* The urgency at this address has changed: the request that waits with it moves to its new place.
 */
void gate_reorder(struct gate *gate, const enum cloud_urgency *urgency);
/* The request that passed has ended: its connection is free. */
void gate_leave(struct gate *gate);
