/* loop.h - the one thread that owns all state of a program.
 *
 * The loop runs tasks, timers and what other threads post to it. It is also where time and
 * randomness come from: a real loop takes them from the system and waits with libuv; a virtual loop
 * has a clock that jumps to the next timer when nothing is ready and draws everything from a seed,
 * so that hours of a controller's life pass in a second and pass again the same way.
 *
 * A real loop looks at its sockets after each round over what is ready, however much is ready again
 * by then, and a round that takes long is cut short: nothing that keeps itself busy can starve
 * them.
 *
 * All calls are for the loop's own thread, except loop_post.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/rt/random.h"
#include "lib/rt/task.h"
#include "lib/rt/timer.h"

struct loop;
struct uv_loop_s;

struct loop *loop_new(void);
/* Virtual time begins at 2026-01-01T00:00:00Z. A seed other than 0 also picks the order of tasks.
 */
struct loop *loop_new_virtual(uint64_t seed);
/* Every task must have ended, every libuv handle be closed by the last of what has been posted. */
void loop_free(struct loop *loop);
DEFINE_CLEANUP(struct loop, loop_free)

/* The loop on which a task runs. */
struct loop *loop_of(const struct task *task);

/* Runs until loop_stop, or until there is nothing left that could ever happen. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);
/* Runs a virtual loop for `ms` of its time. */
void loop_advance(struct loop *loop, uint64_t ms);
/* Moves a virtual loop's clock and runs nothing, as for a process that was stopped so long. */
void loop_skip(struct loop *loop, uint64_t ms);
/* When a virtual loop has something to do next: its own time if at once, TIMER_NEVER if never. */
uint64_t loop_next(struct loop *loop);

uint64_t loop_now(const struct loop *loop); /* milliseconds, from an arbitrary start, steady */
/* The loop_now() time in `ms` milliseconds; TIMER_NEVER if that is beyond counting. */
uint64_t loop_deadline(const struct loop *loop, uint64_t ms);
int64_t loop_wall_us(const struct loop *loop); /* microseconds since 1970, as others see time */
struct random *loop_random(struct loop *loop);

struct task *loop_spawn(struct loop *loop, const char *name, task_fn *fn, void *arg);

void loop_start_timer(struct loop *loop, struct timer *timer, uint64_t due, void (*fire)(void *),
                      void *ctx);
void loop_stop_timer(struct loop *loop, struct timer *timer);

/* From any thread: fn(arg) on the loop's thread and stack, in order of posting. */
void loop_post(struct loop *loop, void (*fn)(void *arg), void *arg);

/* From a task: fn(arg) on the loop's stack; returns when it has returned. */
void loop_call(struct task *self, void (*fn)(void *arg), void *arg);

/* fn(ctx) on the loop when the signal comes; replaces what was set for it. */
void loop_on_signal(struct loop *loop, int signal, void (*fn)(void *ctx), void *ctx);

/* libuv's loop, for the files of lib/rt and lib/http that wait for descriptors; NULL if virtual. */
struct uv_loop_s *loop_uv(struct loop *loop);
