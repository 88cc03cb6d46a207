#undef _FORTIFY_SOURCE /* fiber_switch.h says why */

#include "lib/rt/task.h"

#include <assert.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/rt/fiber_sanitizer.h"
#include "lib/rt/fiber_switch.h"

/* Stacks of ended tasks are kept for the next ones, without their memory: no more than addresses.
 */
enum { TASK_STACK_BYTES = 64 * 1024 * FIBER_STACK_FACTOR, SPARE_STACKS = 64 };

struct task {
    struct sched *sched;
    const char *name;
    task_fn *fn;
    void *arg;

    struct fiber fiber;
    char *stack; /* guard page included */
    struct fiber_sanitizer sanitizer;

    struct task *next_ready;
    bool ready; /* in the queue */
    bool woken; /* a wake that no park has consumed yet */
    bool cancelled;
    bool ended;
};

struct sched {
    struct fiber fiber; /* of sched_run's caller while a task runs */
    struct task *first_ready, **last_ready;
    struct task *running;
    unsigned live, ready;
    char *spare_stacks[SPARE_STACKS];
    unsigned n_spare_stacks;
    uint64_t random; /* 0: first come, first served */
    void (*wakeup)(void *ctx);
    void *wakeup_ctx;
};

static size_t guard_bytes(void) /* a page */
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* While tasks run, signals wait: a handler that we do not know finds too little room on a task's
 * stack. Those of faults do not wait; blocked, they would kill without a word. */
static void signals_that_wait(sigset_t *signals)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};

    sigfillset(signals);
    for (size_t i = 0; i < COUNT_OF(faults); i++)
        sigdelset(signals, faults[i]);
}

struct sched *sched_new(void (*wakeup)(void *ctx), void *ctx)
{
    struct sched *sched = mem_alloc(sizeof *sched);

    sched->last_ready = &sched->first_ready;
    sched->wakeup = wakeup;
    sched->wakeup_ctx = ctx;
    return sched;
}

void sched_free(struct sched *sched)
{
    if (!sched)
        return;
    assert(sched->live == 0);
    while (sched->n_spare_stacks > 0)
        munmap(sched->spare_stacks[--sched->n_spare_stacks], guard_bytes() + TASK_STACK_BYTES);
    free(sched);
}

void sched_seed(struct sched *sched, uint64_t seed)
{
    sched->random = seed;
}

unsigned sched_live_tasks(const struct sched *sched)
{
    return sched->live;
}

bool sched_has_ready(const struct sched *sched)
{
    return sched->ready > 0;
}

const char *task_name(const struct task *task)
{
    return task->name;
}

void *task_context(const struct task *task)
{
    return task->sched->wakeup_ctx;
}

static void make_ready(struct task *task)
{
    struct sched *sched = task->sched;
    bool was_idle = !sched->ready && !sched->running;

    if (task->ready)
        return;
    task->ready = true;
    task->next_ready = NULL;
    *sched->last_ready = task;
    sched->last_ready = &task->next_ready;
    sched->ready++;
    if (was_idle && sched->wakeup)
        sched->wakeup(sched->wakeup_ctx);
}

/* xorshift64: small, repeatable, and good enough to shuffle a queue. */
static uint64_t next_random(struct sched *sched)
{
    sched->random ^= sched->random << 13;
    sched->random ^= sched->random >> 7;
    sched->random ^= sched->random << 17;
    return sched->random;
}

static struct task *take_ready(struct sched *sched)
{
    struct task **link = &sched->first_ready;

    if (sched->random)
        for (uint64_t skip = next_random(sched) % sched->ready; skip; skip--)
            link = &(*link)->next_ready;

    struct task *task = *link;
    *link = task->next_ready;
    if (sched->last_ready == &task->next_ready)
        sched->last_ready = link;
    sched->ready--;
    task->ready = false;
    return task;
}

static void switch_to_scheduler(struct task *task)
{
    fiber_sanitizer_leave(&task->sanitizer, task->ended);
    fiber_switch(&task->fiber, &task->sched->fiber);
    fiber_sanitizer_entered(&task->sanitizer);
}

static void switch_to_task(struct task *task)
{
    struct sched *sched = task->sched;

    sched->running = task;
    fiber_sanitizer_enter(&task->sanitizer, task->stack + guard_bytes(), TASK_STACK_BYTES);
    fiber_switch(&sched->fiber, &task->fiber);
    fiber_sanitizer_left(&task->sanitizer);
    sched->running = NULL;
}

/* makecontext passes ints only, so the pointer travels in two halves. */
static void task_main(unsigned low, unsigned high)
{
    struct task *self = (struct task *)((uintptr_t)high << 32 | low);

    fiber_sanitizer_entered(&self->sanitizer);
    self->fn(self, self->arg);
    self->ended = true;
    switch_to_scheduler(self);
    abort(); /* an ended task is never resumed */
}

static char *stack_new(struct sched *sched)
{
    if (sched->n_spare_stacks > 0)
        return sched->spare_stacks[--sched->n_spare_stacks];

    char *stack = mmap(NULL, guard_bytes() + TASK_STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, guard_bytes(), PROT_NONE) < 0)
        abort();
    return stack;
}

/* Only where time is simulated is there a seed. No handler of signals is to be feared there, no
 * secret to be kept and no memory to be saved; all would take more time than what is simulated. */
static bool is_simulated(const struct sched *sched)
{
    return sched->random != 0;
}

/* What was on it is gone, secrets included. */
static bool stack_forget(const struct sched *sched, char *stack)
{
    return is_simulated(sched) ||
           madvise(stack + guard_bytes(), TASK_STACK_BYTES, MADV_DONTNEED) == 0;
}

static void stack_free(struct sched *sched, char *stack)
{
    if (sched->n_spare_stacks < SPARE_STACKS && stack_forget(sched, stack)) {
        fiber_sanitizer_reuse(stack + guard_bytes(), TASK_STACK_BYTES);
        sched->spare_stacks[sched->n_spare_stacks++] = stack;
        return;
    }
    munmap(stack, guard_bytes() + TASK_STACK_BYTES);
}

/* The mask of signals is the one that sched_run() has while tasks run. */
static void prepare(struct task *task)
{
    ucontext_t *context = &task->fiber.context;

    getcontext(context);
    context->uc_stack.ss_sp = task->stack + guard_bytes();
    context->uc_stack.ss_size = TASK_STACK_BYTES;
    if (!is_simulated(task->sched))
        signals_that_wait(&context->uc_sigmask);
    makecontext(context, (void (*)(void))task_main, 2, (unsigned)(uintptr_t)task,
                (unsigned)((uintptr_t)task >> 32));
}

struct task *task_spawn(struct sched *sched, const char *name, task_fn *fn, void *arg)
{
    struct task *task = mem_alloc(sizeof *task);

    *task = (struct task){.sched = sched, .name = name, .fn = fn, .arg = arg};
    fiber_sanitizer_init(&task->sanitizer);
    task->stack = stack_new(sched);
    prepare(task);
    sched->live++;
    make_ready(task);
    return task;
}

static void task_free(struct task *task)
{
    task->sched->live--;
    fiber_sanitizer_fini(&task->sanitizer);
    stack_free(task->sched, task->stack);
    free(task);
}

static unsigned run_steps(struct sched *sched, unsigned most, bool (*goes_on)(void *ctx), void *ctx)
{
    unsigned steps = 0;
    sigset_t waiting, before;

    assert(!sched->running);
    if (!sched->ready)
        return 0;
    bool signals_wait = !is_simulated(sched);
    signals_that_wait(&waiting);
    if (signals_wait)
        pthread_sigmask(SIG_BLOCK, &waiting, &before);
    do {
        struct task *task = take_ready(sched);

        switch_to_task(task);
        if (task->ended)
            task_free(task);
        steps++;
    } while (sched->ready && steps < most && (!goes_on || goes_on(ctx)));
    if (signals_wait)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    return steps;
}

unsigned sched_run(struct sched *sched)
{
    return run_steps(sched, UINT_MAX, NULL, NULL);
}

void sched_run_round(struct sched *sched, bool (*goes_on)(void *ctx), void *ctx)
{
    run_steps(sched, sched->ready, goes_on, ctx);
}

struct err *task_park(struct task *self)
{
    assert(self->sched->running == self);
    while (!self->woken && !self->cancelled)
        switch_to_scheduler(self);
    self->woken = false;
    if (self->cancelled)
        return err_new(ERR_CANCELED, "%s was cancelled", self->name);
    return NULL;
}

void task_park_uninterruptible(struct task *self)
{
    assert(self->sched->running == self);
    while (!self->woken)
        switch_to_scheduler(self);
    self->woken = false;
}

void task_trim_stack(const struct task *self)
{
    enum { OWN_FRAME_BYTES = 1024 };
    const char *used = (const char *)__builtin_frame_address(0) - OWN_FRAME_BYTES;
    char *bottom = self->stack + guard_bytes();
    size_t unused = used > bottom ? (size_t)(used - bottom) / guard_bytes() * guard_bytes() : 0;

    assert(self->sched->running == self);
    if (!is_simulated(self->sched))
        madvise(bottom, unused, MADV_DONTNEED); /* if not, the task has more memory than it needs */
}

bool task_is_cancelled(const struct task *task)
{
    return task->cancelled;
}

void task_wake(struct task *task)
{
    task->woken = true;
    if (task != task->sched->running)
        make_ready(task);
}

void task_cancel(struct task *task)
{
    task->cancelled = true;
    if (task != task->sched->running)
        make_ready(task);
}
