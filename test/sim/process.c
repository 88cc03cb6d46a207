#include "test/sim/process.h"

#include <assert.h>

enum { REAP_MS = 10 * 60 * 1000 };

void clockwork_init(struct clockwork *clockwork, struct loop *world, uint64_t seed)
{
    *clockwork = (struct clockwork){.world = world, .random = {.state = seed}};
    list_init(&clockwork->processes);
}

/* ---- the next moment ---- */

/* When, in the world's time, a process has something to do. */
static uint64_t next_of(const struct process *process, uint64_t now)
{
    uint64_t next = loop_next(process->loop);

    if (next != TIMER_NEVER)
        next = next > process->skew ? next - process->skew : 0;
    if (next != TIMER_NEVER && process->resumes > next)
        next = process->resumes;
    return next > now ? next : now;
}

/* The moment at which the next of all has something to do, and who of several that is; NULL is the
 * world. */
static uint64_t find_next(struct clockwork *clockwork, struct process **ret)
{
    uint64_t now = loop_now(clockwork->world), best = loop_next(clockwork->world);
    unsigned equals = 1;

    *ret = NULL;
    if (best < now)
        best = now;
    LIST_FOREACH(&clockwork->processes, link) {
        struct process *process = CONTAINER_OF(link, struct process, link);
        uint64_t next = next_of(process, now);

        equals = next < best ? 1 : equals + (next == best);
        if (next < best || (next == best && random_below(&clockwork->random, equals) == 0)) {
            best = next;
            *ret = process;
        }
    }
    return best;
}

static void run_process(struct process *process, uint64_t now)
{
    uint64_t target = now + process->skew, at = loop_now(process->loop);

    process->resumes = 0;
    /* Before anything runs: what somebody else has woken must not see the time of its last step. */
    loop_skip(process->loop, target > at ? target - at : 0);
    loop_advance(process->loop, 0);
}

bool clockwork_run(struct clockwork *clockwork, uint64_t until)
{
    for (;;) {
        struct process *process;
        uint64_t now = loop_now(clockwork->world), next = find_next(clockwork, &process);

        if (next > until) {
            loop_skip(clockwork->world, until - now);
            return true;
        }
        if (next > now)
            loop_skip(clockwork->world, next - now);
        if (process)
            run_process(process, next);
        else
            loop_advance(clockwork->world, 0);
        if (clockwork->after_step && !clockwork->after_step(clockwork->ctx))
            return false;
    }
}

/* ---- processes ---- */

void process_start(struct process *process, struct clockwork *clockwork, uint64_t skew)
{
    *process = (struct process){
        .clockwork = clockwork,
        .loop = loop_new_virtual(random_next(&clockwork->random) | 1),
        .skew = skew,
    };
    loop_skip(process->loop, loop_now(clockwork->world) + skew);
    list_append(&clockwork->processes, &process->link);
}

void process_pause(struct process *process, uint64_t ms)
{
    process->resumes = loop_now(process->clockwork->world) + ms;
}

void process_stop(struct process *process)
{
    list_remove(&process->link);
}

void process_reap(struct process *process)
{
    loop_advance(process->loop, REAP_MS);
    assert(loop_next(process->loop) == TIMER_NEVER);
    loop_free(process->loop);
    process->loop = NULL;
}
