#include "lib/rt/wait.h"

#include <assert.h>

struct waiter {
    struct list link;
    struct task *task;
    bool woken, timed_out;
    struct timer timer;
};

void waiters_init(struct waiters *waiters)
{
    list_init(&waiters->tasks);
}

bool waiters_is_empty(const struct waiters *waiters)
{
    return list_is_empty(&waiters->tasks);
}

static void wake(struct waiter *waiter)
{
    list_remove(&waiter->link);
    waiter->woken = true;
    task_wake(waiter->task);
}

void waiters_wake(struct waiters *waiters)
{
    struct list *link;

    while ((link = waiters->tasks.next) != &waiters->tasks)
        wake(CONTAINER_OF(link, struct waiter, link));
}

static void on_deadline(void *ctx)
{
    struct waiter *waiter = ctx;

    waiter->timed_out = true;
    task_wake(waiter->task);
}

struct err *wait_for_change(struct task *self, struct waiters *waiters, uint64_t deadline)
{
    struct waiter waiter = {.task = self};
    struct loop *loop = loop_of(self);
    struct err *err = NULL;

    if (deadline <= loop_now(loop))
        return err_new(ERR_TIMEOUT, "timed out");
    list_append(&waiters->tasks, &waiter.link);
    if (deadline != TIMER_NEVER)
        loop_start_timer(loop, &waiter.timer, deadline, on_deadline, &waiter);
    while (!waiter.woken && !waiter.timed_out && !err)
        err = task_park(self);
    loop_stop_timer(loop, &waiter.timer);
    list_remove(&waiter.link);
    /* A wake counts even if the end came at the same moment: it may have handed something over. */
    if (waiter.woken) {
        err_free(err);
        return NULL;
    }
    return err ? err : err_new(ERR_TIMEOUT, "timed out");
}

void wait_uninterruptible(struct task *self, struct waiters *waiters)
{
    struct waiter waiter = {.task = self};

    list_append(&waiters->tasks, &waiter.link);
    while (!waiter.woken)
        task_park_uninterruptible(self);
}

struct err *task_sleep(struct task *self, uint64_t ms)
{
    struct waiter waiter = {.task = self};
    struct loop *loop = loop_of(self);
    struct err *err = NULL;

    loop_start_timer(loop, &waiter.timer, loop_deadline(loop, ms), on_deadline, &waiter);
    while (!waiter.timed_out && !err)
        err = task_park(self);
    loop_stop_timer(loop, &waiter.timer);
    return err;
}

void semaphore_init(struct semaphore *semaphore, unsigned limit)
{
    *semaphore = (struct semaphore){.limit = limit};
    waiters_init(&semaphore->waiters);
}

/* A holder that gives it back hands its place to the first waiter, so nobody can overtake. */
struct err *semaphore_take(struct task *self, struct semaphore *semaphore, uint64_t deadline)
{
    if (semaphore->held < semaphore->limit) {
        semaphore->held++;
        return NULL;
    }
    return wait_for_change(self, &semaphore->waiters, deadline);
}

void semaphore_give(struct semaphore *semaphore)
{
    assert(semaphore->held > 0);
    if (waiters_is_empty(&semaphore->waiters))
        semaphore->held--;
    else
        wake(CONTAINER_OF(semaphore->waiters.tasks.next, struct waiter, link));
}
