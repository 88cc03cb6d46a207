#include "azdiskctl/interrupt.h"

#include <signal.h>

#include "lib/base/alloc.h"
#include "lib/rt/group.h"

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

struct work {
    interruptible_fn *fn;
    void *ctx;
    struct err *err;
};

static void do_work(struct task *self, void *arg)
{
    struct work *work = arg;

    work->err = work->fn(self, work->ctx);
}

static void cancel(void *ctx)
{
    group_cancel(ctx);
}

static void ignore(void *ctx)
{
    (void)ctx;
}

struct err *run_interruptible(struct task *self, interruptible_fn *fn, void *ctx)
{
    struct loop *loop = loop_of(self);
    struct work work = {fn, ctx, NULL};
    struct task_group group;

    group_init(&group, loop);
    for (size_t i = 0; i < COUNT_OF(signals); i++)
        loop_on_signal(loop, signals[i], cancel, &group);
    group_spawn(&group, "work", do_work, &work);
    while (group.n_members > 0)
        wait_uninterruptible(self, &group.ended);
    /* What follows is short, and must come to its end. */
    for (size_t i = 0; i < COUNT_OF(signals); i++)
        loop_on_signal(loop, signals[i], ignore, NULL);
    return work.err;
}
