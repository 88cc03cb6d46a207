/* thread_pool.h - threads for calls that block: mount, probing a disk, reading a slow file.
 *
 * A task hands a function over and stops until it has returned. A call that hangs, as a mount of a
 * dead disk can, keeps its thread; the cap on threads and on the queue makes that an error for the
 * next caller instead of a growing pile. The function sees only what it was given and must not
 * touch anything of the loop. Loop's thread, real loops only.
 */
#pragma once

#include "lib/rt/loop.h"

struct thread_pool;

/* Threads start when they are needed; `max_queued` calls may wait beyond those that run. */
struct thread_pool *thread_pool_new(struct loop *loop, unsigned max_threads, unsigned max_queued);
void thread_pool_free(struct thread_pool *pool); /* no call may be running; NULL is fine */
DEFINE_CLEANUP(struct thread_pool, thread_pool_free)

/* fn(arg) on a thread. The wait ends only when fn has returned, cancelled or not, because fn uses
 * the caller's memory. EXHAUSTED, without calling fn, if the queue is full. */
struct err *thread_pool_run(struct task *self, struct thread_pool *pool, void (*fn)(void *arg),
                            void *arg) __attribute__((warn_unused_result));

/* A pause of such a function, between two tries of a call that did not succeed yet. */
void thread_pool_pause(unsigned ms);

unsigned thread_pool_busy(const struct thread_pool *pool); /* threads inside a call */
