#include "lib/rt/loop.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/time.h>
#include <uv.h>

#include "lib/base/alloc.h"

/* 2026-01-01T00:00:00Z */
#define VIRTUAL_EPOCH_US (1767225600LL * 1000000)

enum {
    MAX_SIGNALS = 4,
    /* Posts, timers and tasks may each have so much of a round before the sockets are looked at
     * again: the lease is renewed there, watches are read and CSI is answered. */
    SLICE_MS = 10,
};

struct post {
    void (*fn)(void *arg);
    void *arg;
};

struct signal_handler {
    uv_signal_t handle;
    void (*fn)(void *ctx);
    void *ctx;
};

struct loop {
    struct sched *sched;
    struct timers timers;
    struct random random;
    bool stopped;
    bool is_virtual;
    uint64_t virtual_now;
    uint64_t slice_end;

    pthread_mutex_t lock; /* of these posts only */
    struct post *posts;
    size_t n_posts;
    struct post *taken; /* of them, those that are being run */
    size_t n_taken, next_taken;

    uv_loop_t uv;
    uv_async_t posted;
    uv_timer_t alarm;
    struct signal_handler signals[MAX_SIGNALS];
    size_t n_signals;
};

static struct loop *loop_make(void)
{
    struct loop *loop = mem_alloc(sizeof *loop);

    loop->sched = sched_new(NULL, loop);
    pthread_mutex_init(&loop->lock, NULL);
    return loop;
}

/* libuv returns to loop_run after it; the work is done there. */
static void on_posted(uv_async_t *handle)
{
    (void)handle;
}

/* An alarm that is due already fires before libuv waits, and must keep it from waiting. */
static void on_alarm(uv_timer_t *handle)
{
    uv_stop(handle->loop);
}

struct loop *loop_new(void)
{
    struct loop *loop = loop_make();

    random_seed_from_system(&loop->random);
    if (uv_loop_init(&loop->uv) || uv_async_init(&loop->uv, &loop->posted, on_posted) ||
        uv_timer_init(&loop->uv, &loop->alarm))
        abort();
    uv_unref((uv_handle_t *)&loop->posted);
    return loop;
}

struct loop *loop_new_virtual(uint64_t seed)
{
    struct loop *loop = loop_make();

    loop->is_virtual = true;
    loop->random.state = seed;
    sched_seed(loop->sched, seed);
    return loop;
}

static bool goes_on(void *ctx)
{
    const struct loop *loop = ctx;

    return loop->is_virtual || loop_now(loop) < loop->slice_end;
}

static void begin_slice(struct loop *loop)
{
    loop->slice_end = loop_now(loop) + SLICE_MS;
}

/* What is posted while these run is for the next round. */
static void take_posts(struct loop *loop)
{
    free(loop->taken);
    pthread_mutex_lock(&loop->lock);
    loop->taken = TAKE_PTR(loop->posts);
    loop->n_taken = loop->n_posts;
    loop->n_posts = 0;
    pthread_mutex_unlock(&loop->lock);
    loop->next_taken = 0;
}

static bool run_posts(struct loop *loop)
{
    bool on = true;

    if (loop->next_taken == loop->n_taken)
        take_posts(loop);
    while (on && loop->next_taken < loop->n_taken) {
        const struct post *post = &loop->taken[loop->next_taken++];

        post->fn(post->arg);
        on = goes_on(loop);
    }
    return loop->n_taken > 0;
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    while (run_posts(loop))
        ;
    if (!loop->is_virtual) {
        for (size_t i = 0; i < loop->n_signals; i++)
            uv_close((uv_handle_t *)&loop->signals[i].handle, NULL);
        uv_close((uv_handle_t *)&loop->posted, NULL);
        uv_close((uv_handle_t *)&loop->alarm, NULL);
        uv_run(&loop->uv, UV_RUN_NOWAIT); /* the close callbacks */
        if (uv_loop_close(&loop->uv))
            abort(); /* a handle was left open */
    }
    sched_free(loop->sched);
    timers_fini(&loop->timers);
    free(loop->posts);
    free(loop->taken);
    pthread_mutex_destroy(&loop->lock);
    free(loop);
}

struct loop *loop_of(const struct task *task)
{
    return task_context(task);
}

uint64_t loop_now(const struct loop *loop)
{
    return loop->is_virtual ? loop->virtual_now : uv_hrtime() / 1000000;
}

uint64_t loop_deadline(const struct loop *loop, uint64_t ms)
{
    uint64_t now = loop_now(loop);

    return ms < TIMER_NEVER - now ? now + ms : TIMER_NEVER;
}

int64_t loop_wall_us(const struct loop *loop)
{
    struct timeval now;

    if (loop->is_virtual)
        return VIRTUAL_EPOCH_US + (int64_t)loop->virtual_now * 1000;
    gettimeofday(&now, NULL);
    return (int64_t)now.tv_sec * 1000000 + now.tv_usec;
}

struct random *loop_random(struct loop *loop)
{
    return &loop->random;
}

struct task *loop_spawn(struct loop *loop, const char *name, task_fn *fn, void *arg)
{
    return task_spawn(loop->sched, name, fn, arg);
}

void loop_start_timer(struct loop *loop, struct timer *timer, uint64_t due, void (*fire)(void *),
                      void *ctx)
{
    timers_start(&loop->timers, timer, due, fire, ctx);
}

void loop_stop_timer(struct loop *loop, struct timer *timer)
{
    timers_stop(&loop->timers, timer);
}

void loop_post(struct loop *loop, void (*fn)(void *arg), void *arg)
{
    pthread_mutex_lock(&loop->lock);
    ARRAY_ADD(loop->posts, loop->n_posts) = (struct post){fn, arg};
    pthread_mutex_unlock(&loop->lock);
    if (!loop->is_virtual)
        uv_async_send(&loop->posted);
}

struct call {
    struct task *task;
    void (*fn)(void *arg);
    void *arg;
    bool done;
};

static void run_call(void *arg)
{
    struct call *call = arg;

    call->fn(call->arg);
    call->done = true;
    task_wake(call->task);
}

void loop_call(struct task *self, void (*fn)(void *arg), void *arg)
{
    struct call call = {.task = self, .fn = fn, .arg = arg};

    loop_post(loop_of(self), run_call, &call);
    while (!call.done)
        task_park_uninterruptible(self);
}

/* Everything that can be done without waiting, on a virtual loop: nothing else is waiting there. */
static void run_ready(struct loop *loop)
{
    bool progress;

    do {
        progress = run_posts(loop);
        progress |= timers_fire(&loop->timers, loop_now(loop));
        progress |= sched_run(loop->sched) > 0;
    } while (progress && !loop->stopped);
}

/* What is ready, and not what becomes ready by it. */
static void run_round(struct loop *loop)
{
    begin_slice(loop);
    run_posts(loop);
    begin_slice(loop);
    timers_fire_round(&loop->timers, loop_now(loop), goes_on, loop);
    begin_slice(loop);
    sched_run_round(loop->sched, goes_on, loop);
}

static bool has_posts(struct loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    bool posted = loop->n_posts > 0;
    pthread_mutex_unlock(&loop->lock);
    return posted || loop->next_taken < loop->n_taken;
}

/* Waits until a timer is due, unless there is something to do at once. */
static void poll_sockets(struct loop *loop)
{
    uint64_t next = timers_next(&loop->timers), now = loop_now(loop);

    if (sched_has_ready(loop->sched) || has_posts(loop) || next <= now) {
        uv_run(&loop->uv, UV_RUN_NOWAIT);
        return;
    }
    uv_update_time(&loop->uv);
    if (next == TIMER_NEVER)
        uv_timer_stop(&loop->alarm);
    else
        uv_timer_start(&loop->alarm, on_alarm, next - now, 0);
    uv_run(&loop->uv, UV_RUN_ONCE);
}

/* Tasks that are parked wait for something: a task alone keeps the loop alive. */
static bool has_work(struct loop *loop)
{
    return sched_live_tasks(loop->sched) > 0 || timers_next(&loop->timers) != TIMER_NEVER ||
           has_posts(loop);
}

static void loop_run_until(struct loop *loop, uint64_t until)
{
    for (;;) {
        run_ready(loop);
        if (loop->stopped || timers_next(&loop->timers) > until)
            return;
        loop->virtual_now = timers_next(&loop->timers);
    }
}

void loop_run(struct loop *loop)
{
    loop->stopped = false;
    if (loop->is_virtual) {
        loop_run_until(loop, TIMER_NEVER - 1);
        return;
    }
    /* While tasks wait for other threads, libuv must wait with them. */
    uv_ref((uv_handle_t *)&loop->posted);
    for (run_round(loop); !loop->stopped && has_work(loop); run_round(loop))
        poll_sockets(loop);
    uv_unref((uv_handle_t *)&loop->posted);
}

void loop_stop(struct loop *loop)
{
    loop->stopped = true;
    if (!loop->is_virtual)
        uv_async_send(&loop->posted);
}

void loop_advance(struct loop *loop, uint64_t ms)
{
    uint64_t until = loop_deadline(loop, ms);

    assert(loop->is_virtual && until < TIMER_NEVER);
    loop->stopped = false;
    loop_run_until(loop, until);
    if (!loop->stopped)
        loop->virtual_now = until;
}

void loop_skip(struct loop *loop, uint64_t ms)
{
    assert(loop->is_virtual);
    loop->virtual_now += ms;
}

uint64_t loop_next(struct loop *loop)
{
    bool at_once = has_posts(loop) || sched_has_ready(loop->sched);

    assert(loop->is_virtual);
    return at_once ? loop->virtual_now : timers_next(&loop->timers);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct signal_handler *handler = handle->data;

    (void)number;
    handler->fn(handler->ctx);
}

void loop_on_signal(struct loop *loop, int signal, void (*fn)(void *ctx), void *ctx)
{
    size_t i = 0;

    assert(!loop->is_virtual);
    while (i < loop->n_signals && loop->signals[i].handle.signum != signal)
        i++;
    assert(i < MAX_SIGNALS);

    struct signal_handler *handler = &loop->signals[i];
    handler->fn = fn;
    handler->ctx = ctx;
    if (i < loop->n_signals)
        return;
    loop->n_signals++;
    uv_signal_init(&loop->uv, &handler->handle);
    handler->handle.data = handler;
    uv_signal_start(&handler->handle, on_signal, signal);
    uv_unref((uv_handle_t *)&handler->handle);
}

struct uv_loop_s *loop_uv(struct loop *loop)
{
    return loop->is_virtual ? NULL : &loop->uv;
}
