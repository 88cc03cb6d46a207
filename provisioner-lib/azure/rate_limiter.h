/* rate_limiter.h - where requests to Azure wait for their turn: one queue before the buckets and
 * the connections.
 *
 * A request passes when each of its buckets has a token and a connection is free, which it keeps
 * until it leaves. Among those that wait for the same the more urgent goes first, then the one that
 * came first; who waits for the bucket of one VM holds up nobody else. Nothing waits behind
 * the limiter, so that a request's time is what Azure takes. Loop's thread; a wait yields.
 */
#pragma once

#include "lib/rt/wait.h"
#include "provisioner-lib/azure/token_buckets.h"
#include "provisioner-lib/cloud.h"

struct rate_limiter;

struct rate_limiter *rate_limiter_new(struct loop *loop, unsigned connections);
void rate_limiter_free(struct rate_limiter *limiter); /* nobody may be waiting */
DEFINE_CLEANUP(struct rate_limiter, rate_limiter_free)

/* What would pass. */
struct rate_limiter_request {
    struct token_buckets *buckets; /* of its subscription */
    enum arm_kind kind;
    const char *resource; /* as in token_buckets.h */
    const enum cloud_urgency *urgency;
};

/* Returns when such a request could pass. What it is to say may be made up then, of all that has
 * come meanwhile. CANCELED. */
struct err *rate_limiter_wait(struct task *self, struct rate_limiter *limiter,
                              const struct rate_limiter_request *request)
    __attribute__((warn_unused_result));
/* Returns when the request may be sent, and counts it as sent. CANCELED, and then it has no
 * connection. */
struct err *rate_limiter_acquire(struct task *self, struct rate_limiter *limiter,
                                 const struct rate_limiter_request *request)
    __attribute__((warn_unused_result));
/* The urgency at this address has changed: the request that waits with it moves to its new place.
 */
void rate_limiter_reorder(struct rate_limiter *limiter, const enum cloud_urgency *urgency);
/* The request that passed has ended: its connection is free. */
void rate_limiter_release(struct rate_limiter *limiter);
