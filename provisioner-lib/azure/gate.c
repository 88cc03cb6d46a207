#include "provisioner-lib/azure/gate.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/list.h"

/* On the stack of the task that waits. */
struct waiter {
    struct list link;
    const struct gate_request *request;
    bool spends;
    bool passed;
    uint64_t due; /* not before: what happens to a budget makes nobody's turn come earlier */
    struct waiters wake;
};

struct gate {
    struct loop *loop;
    unsigned free_connections;
    struct list waiting; /* in the order in which they are served */
    struct timer timer;
};

struct gate *gate_new(struct loop *loop, unsigned connections)
{
    struct gate *gate = mem_alloc(sizeof *gate);

    gate->loop = loop;
    gate->free_connections = connections;
    list_init(&gate->waiting);
    return gate;
}

void gate_free(struct gate *gate)
{
    if (!gate)
        return;
    loop_stop_timer(gate->loop, &gate->timer);
    free(gate);
}

static void let_through(struct gate *gate, struct waiter *waiter, uint64_t now)
{
    const struct gate_request *request = waiter->request;

    if (waiter->spends) {
        budget_spend(request->budget, request->kind, request->resource, now);
        gate->free_connections--;
    }
    waiter->passed = true;
    list_remove(&waiter->link);
    waiters_wake(&waiter->wake);
}

/* Lets through those who may go, and comes back when the next one may: by time, or when a
 * connection becomes free. */
static void serve(void *ctx)
{
    struct gate *gate = ctx;
    uint64_t now = loop_now(gate->loop), next = TIMER_NEVER;

    LIST_FOREACH(&gate->waiting, link) {
        struct waiter *waiter = CONTAINER_OF(link, struct waiter, link);
        const struct gate_request *request = waiter->request;

        if (gate->free_connections == 0)
            break;
        if (waiter->due <= now)
            waiter->due = budget_due(request->budget, request->kind, request->resource, now);
        if (waiter->due <= now)
            let_through(gate, waiter, now);
        else if (waiter->due < next)
            next = waiter->due;
    }
    loop_stop_timer(gate->loop, &gate->timer);
    if (next != TIMER_NEVER)
        loop_start_timer(gate->loop, &gate->timer, next, serve, gate);
}

static enum cloud_urgency urgency_of(struct list *link)
{
    return *CONTAINER_OF(link, struct waiter, link)->request->urgency;
}

/* Behind those that are as urgent. */
static void enter(struct gate *gate, struct waiter *waiter)
{
    struct list *before = &gate->waiting;

    LIST_FOREACH(&gate->waiting, link) {
        if (urgency_of(link) <= *waiter->request->urgency)
            continue;
        before = link;
        break;
    }
    list_append(before, &waiter->link); /* at the end of what is before it */
}

static struct err *wait_turn(struct task *self, struct gate *gate, struct waiter *waiter)
{
    struct err *err = NULL;

    waiters_init(&waiter->wake);
    enter(gate, waiter);
    serve(gate);
    while (!waiter->passed && !err)
        err = wait_for_change(self, &waiter->wake, TIMER_NEVER);
    list_remove(&waiter->link);
    return err;
}

struct err *gate_wait(struct task *self, struct gate *gate, const struct gate_request *request)
{
    struct waiter waiter = {.request = request};

    return wait_turn(self, gate, &waiter);
}

struct err *gate_pass(struct task *self, struct gate *gate, const struct gate_request *request)
{
    struct waiter waiter = {.request = request, .spends = true};

    return wait_turn(self, gate, &waiter);
}

void gate_reorder(struct gate *gate, const enum cloud_urgency *urgency)
{
    LIST_FOREACH(&gate->waiting, link) {
        struct waiter *waiter = CONTAINER_OF(link, struct waiter, link);

        if (waiter->request->urgency != urgency)
            continue;
        list_remove(&waiter->link);
        enter(gate, waiter);
        return;
    }
}

void gate_leave(struct gate *gate)
{
    gate->free_connections++;
    serve(gate);
}
