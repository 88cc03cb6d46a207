/* task.h - conversations that read from top to bottom.
 *
 * A task is a function with a stack of its own that can stop in the middle (park) and go on later
 * (wake). A reconcile that asks Azure, waits, asks again and writes what it saw is then plain code
 * with early returns, instead of a chain of callbacks. All tasks of a scheduler run on one thread,
 * one at a time, and stop only where they say so: between two calls that take `struct task *self`
 * nothing else runs. After such a call everything may have changed; look again.
 *
 * The scheduler does not know what it waits for: timers, HTTP and other threads wake tasks. It runs
 * ready tasks in the order in which they became ready, or, for tests, in an order drawn from a
 * seed, so that a run can be repeated exactly.
 *
 * A task's stack is 64 KiB with a guard page below it, so that overflow is a crash and never a
 * corruption. What needs more, such as TLS or a parser, runs on the loop's own stack (loop_post) or
 * in a thread pool. Signals that come while tasks run are handled afterwards, on the scheduler's
 * stack.
 *
 * Ownership: a task belongs to its scheduler and is gone when its function returns. Cancelling
 * never drops a stack: the parked call returns CANCELED, the function cleans up and returns by
 * itself. Threads: everything here is for the thread that runs the scheduler.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

struct sched;
struct task;

typedef void task_fn(struct task *self, void *arg);

/* `wakeup(ctx)`, when given, is called as soon as work appears while the scheduler is not running.
 * `ctx` is also what task_context() of every task returns. */
struct sched *sched_new(void (*wakeup)(void *ctx), void *ctx);
void sched_free(struct sched *sched); /* every task must have ended */

/* From now on pick among ready tasks by this seed; 0 restores first come, first served. */
void sched_seed(struct sched *sched, uint64_t seed);

/* Run tasks until none is ready. Returns how many steps were run. */
unsigned sched_run(struct sched *sched);
/* Run those that are ready now, one step each, until `goes_on(ctx)` is false after a step; the
 * others keep their places. */
void sched_run_round(struct sched *sched, bool (*goes_on)(void *ctx), void *ctx);
unsigned sched_live_tasks(const struct sched *sched);
bool sched_has_ready(const struct sched *sched);

/* Start fn(self, arg) as soon as the scheduler runs; `name` must outlive the task; the error of
 * a cancelled one says it. */
struct task *task_spawn(struct sched *sched, const char *name, task_fn *fn, void *arg);
const char *task_name(const struct task *task);
void *task_context(const struct task *task);

/* Stop until somebody calls task_wake. A wake that came before the park makes it return at once:
 * none is ever lost. CANCELED if the task is cancelled, at once and from then on. */
struct err *task_park(struct task *self) __attribute__((warn_unused_result));
void task_wake(struct task *task);
void task_cancel(struct task *task);
bool task_is_cancelled(const struct task *task);

/* The same for a caller that lent its stack to another thread or to a callback and has to see the
 * end of it: cancelling does not end this wait, as a signal does not end one of the kernel's that
 * is uninterruptible. */
void task_park_uninterruptible(struct task *self);

/* For before a wait that may take long: the memory of the stack that nobody uses at the moment is
 * given back, so that thousands that wait have a page or two each. */
void task_trim_stack(const struct task *self);
