#include "provisioner-lib/azure/rate_limiter.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/list.h"

/* On the stack of the task that waits. */
struct waiter {
    struct list link;
    const struct rate_limiter_request *request;
    bool spends;
    bool passed;
    uint64_t due; /* not before: what happens to the buckets makes nobody's turn come earlier */
    struct waiters wake;
};

struct rate_limiter {
    struct loop *loop;
    unsigned free_connections;
    struct list waiting; /* in the order in which they are served */
    struct timer timer;
};

struct rate_limiter *rate_limiter_new(struct loop *loop, unsigned connections)
{
    struct rate_limiter *limiter = mem_alloc(sizeof *limiter);

    limiter->loop = loop;
    limiter->free_connections = connections;
    list_init(&limiter->waiting);
    return limiter;
}

void rate_limiter_free(struct rate_limiter *limiter)
{
    if (!limiter)
        return;
    loop_stop_timer(limiter->loop, &limiter->timer);
    free(limiter);
}

static void let_through(struct rate_limiter *limiter, struct waiter *waiter, uint64_t now)
{
    const struct rate_limiter_request *request = waiter->request;

    if (waiter->spends) {
        token_buckets_spend(request->buckets, request->kind, request->resource, now);
        limiter->free_connections--;
    }
    waiter->passed = true;
    list_remove(&waiter->link);
    waiters_wake(&waiter->wake);
}

/* Lets through those who may go, and comes back when the next one may: by time, or when a
 * connection becomes free. */
static void serve(void *ctx)
{
    struct rate_limiter *limiter = ctx;
    uint64_t now = loop_now(limiter->loop), next = TIMER_NEVER;

    LIST_FOREACH(&limiter->waiting, link) {
        struct waiter *waiter = CONTAINER_OF(link, struct waiter, link);
        const struct rate_limiter_request *request = waiter->request;

        if (limiter->free_connections == 0)
            break;
        if (waiter->due <= now)
            waiter->due =
                token_buckets_due(request->buckets, request->kind, request->resource, now);
        if (waiter->due <= now)
            let_through(limiter, waiter, now);
        else if (waiter->due < next)
            next = waiter->due;
    }
    loop_stop_timer(limiter->loop, &limiter->timer);
    if (next != TIMER_NEVER)
        loop_start_timer(limiter->loop, &limiter->timer, next, serve, limiter);
}

static enum cloud_urgency urgency_of(struct list *link)
{
    return *CONTAINER_OF(link, struct waiter, link)->request->urgency;
}

/* Behind those that are as urgent. */
static void enter(struct rate_limiter *limiter, struct waiter *waiter)
{
    struct list *before = &limiter->waiting;

    LIST_FOREACH(&limiter->waiting, link) {
        if (urgency_of(link) <= *waiter->request->urgency)
            continue;
        before = link;
        break;
    }
    list_append(before, &waiter->link); /* at the end of what is before it */
}

static struct err *wait_turn(struct task *self, struct rate_limiter *limiter, struct waiter *waiter)
{
    struct err *err = NULL;

    waiters_init(&waiter->wake);
    enter(limiter, waiter);
    serve(limiter);
    while (!waiter->passed && !err)
        err = wait_for_change(self, &waiter->wake, TIMER_NEVER);
    list_remove(&waiter->link);
    return err;
}

struct err *rate_limiter_wait(struct task *self, struct rate_limiter *limiter,
                              const struct rate_limiter_request *request)
{
    struct waiter waiter = {.request = request};

    return wait_turn(self, limiter, &waiter);
}

struct err *rate_limiter_acquire(struct task *self, struct rate_limiter *limiter,
                                 const struct rate_limiter_request *request)
{
    struct waiter waiter = {.request = request, .spends = true};

    return wait_turn(self, limiter, &waiter);
}

void rate_limiter_reorder(struct rate_limiter *limiter, const enum cloud_urgency *urgency)
{
    LIST_FOREACH(&limiter->waiting, link) {
        struct waiter *waiter = CONTAINER_OF(link, struct waiter, link);

        if (waiter->request->urgency != urgency)
            continue;
        list_remove(&waiter->link);
        enter(limiter, waiter);
        return;
    }
}

void rate_limiter_release(struct rate_limiter *limiter)
{
    limiter->free_connections++;
    serve(limiter);
}
