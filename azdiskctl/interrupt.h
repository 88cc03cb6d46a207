/* interrupt.h - work that a person may break off by Ctrl-C, and that then has to be cleaned up.
 */
#pragma once

#include "lib/rt/loop.h"

typedef struct err *interruptible_fn(struct task *self, void *ctx);

/* Runs fn(task, ctx) as a task of its own, which SIGINT, SIGTERM and SIGHUP cancel: CANCELED then,
 * and the caller is not, so that it can undo what the work has left behind. */
struct err *run_interruptible(struct task *self, interruptible_fn *fn, void *ctx)
    __attribute__((warn_unused_result));
