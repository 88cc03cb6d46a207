#include "provisioner-lib/azure/gate.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/list.h"

/* On the stack of the task that waits. */
struct waiter {
    struct list link;
    enum arm_kind kind;
    const char *resource;
    enum cloud_urgency urgency;
    bool spends;
    bool passed;
    uint64_t due; /* not before: what happens to a budget makes nobody's turn come earlier */
    struct waiters wake;
};

struct gate {
    struct loop *loop;
    struct budget *budget;
    struct list waiting; /* in the order in which they are served */
    struct timer timer;
};

struct gate *gate_new(struct loop *loop)
{
    struct gate *gate = mem_alloc(sizeof *gate);

    gate->loop = loop;
    gate->budget = budget_new();
    list_init(&gate->waiting);
    return gate;
}

void gate_free(struct gate *gate)
{
    if (!gate)
        return;
    loop_stop_timer(gate->loop, &gate->timer);
    budget_free(gate->budget);
    free(gate);
}

struct budget *gate_budget(struct gate *gate)
{
    return gate->budget;
}

/* Lets through whoever may go, and comes back when the next one may. */
static void serve(void *ctx)
{
    struct gate *gate = ctx;
    uint64_t now = loop_now(gate->loop), next = TIMER_NEVER;

    LIST_FOREACH(&gate->waiting, link) {
        struct waiter *waiter = CONTAINER_OF(link, struct waiter, link);

        if (waiter->due <= now)
            waiter->due = budget_due(gate->budget, waiter->kind, waiter->resource, now);
        if (waiter->due > now) {
            next = waiter->due < next ? waiter->due : next;
            continue;
        }
        if (waiter->spends)
            budget_spend(gate->budget, waiter->kind, waiter->resource, now);
        waiter->passed = true;
        list_remove(&waiter->link);
        waiters_wake(&waiter->wake);
    }
    loop_stop_timer(gate->loop, &gate->timer);
    if (next != TIMER_NEVER)
        loop_start_timer(gate->loop, &gate->timer, next, serve, gate);
}

static void enter(struct gate *gate, struct waiter *waiter)
{
    struct list *before = &gate->waiting;

    LIST_FOREACH(&gate->waiting, link) {
        if (CONTAINER_OF(link, struct waiter, link)->urgency <= waiter->urgency)
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

struct err *gate_wait(struct task *self, struct gate *gate, enum arm_kind kind,
                      const char *resource, enum cloud_urgency urgency)
{
    struct waiter waiter = {.kind = kind, .resource = resource, .urgency = urgency};

    return wait_turn(self, gate, &waiter);
}

struct err *gate_pass(struct task *self, struct gate *gate, enum arm_kind kind,
                      const char *resource, enum cloud_urgency urgency)
{
    struct waiter waiter = {.kind = kind, .resource = resource, .urgency = urgency, .spends = true};

    return wait_turn(self, gate, &waiter);
}
