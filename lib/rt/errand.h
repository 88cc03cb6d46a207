/* errand.h - a call that blocks, and that nobody has to wait for.
 *
 * Who hands a function to a thread_pool lends it memory, and cannot leave before it has returned. A
 * look at a disk that is dead may return after minutes, or never, so an errand has a thread and
 * memory of its own, and may be abandoned: by a program that ends, for one. How many there are at
 * once is for the caller to bound. Everything but `run` is for the loop's thread; from tasks, whose
 * signals the thread is to leave alone.
 */
#pragma once

#include "lib/rt/loop.h"

struct errand;

struct errand_kind {
    void (*run)(void *work);             /* on the thread; touches nothing but `work` */
    void (*done)(void *work, void *ctx); /* on the loop, when `run` has returned */
    void (*free)(void *work);            /* after `done`; by the thread, if abandoned */
};

/* Takes ownership of `work`, of which it is rid after a failure, too: UNAVAILABLE, if there is no
 * thread to be had. */
struct err *errand_start(struct loop *loop, const struct errand_kind *kind, void *work, void *ctx,
                         struct errand **ret_errand) __attribute__((warn_unused_result));
/* `done` is not called any more. Before `done` only, which ends the errand. */
void errand_abandon(struct errand *errand);
