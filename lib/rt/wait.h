/* wait.h - how a task waits for something that others bring about.
 *
 * `struct waiters` is a condition: whoever changes what is waited for wakes all, and a waiter looks
 * again. A wait that begins after the change misses it, so the pattern is always
 *
 *     while (!what_i_want(state))
 *         TRY(wait_for_change(self, &state->waiters, deadline));
 *
 * which is safe because nothing runs between the look and the wait. Everything is for the loop's
 * thread. Deadlines are loop_now() times; TIMER_NEVER for none.
 */
#pragma once

#include "lib/base/list.h"
#include "lib/rt/loop.h"

struct waiters {
    struct list tasks; /* in the order in which they came */
};

void waiters_init(struct waiters *waiters);
void waiters_wake(struct waiters *waiters);
bool waiters_is_empty(const struct waiters *waiters);

/* TIMEOUT at the deadline, CANCELED if the task is cancelled. */
struct err *wait_for_change(struct task *self, struct waiters *waiters, uint64_t deadline)
    __attribute__((warn_unused_result));
/* Waits even through cancellation, for what is certain to come. */
void wait_uninterruptible(struct task *self, struct waiters *waiters);

/* CANCELED if the task is cancelled meanwhile. */
struct err *task_sleep(struct task *self, uint64_t ms) __attribute__((warn_unused_result));

/* At most `limit` holders at a time, served in the order in which they came. */
struct semaphore {
    unsigned limit, held;
    struct waiters waiters;
};

void semaphore_init(struct semaphore *semaphore, unsigned limit);
struct err *semaphore_take(struct task *self, struct semaphore *semaphore, uint64_t deadline)
    __attribute__((warn_unused_result));
void semaphore_give(struct semaphore *semaphore);
