#include "lib/rt/thread_pool.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "lib/base/alloc.h"
#include "lib/base/list.h"

struct call {
    struct list link;
    struct thread_pool *pool;
    struct task *task;
    void (*fn)(void *arg);
    void *arg;
    bool done;
};

struct thread_pool {
    struct loop *loop;
    unsigned max_threads, max_queued;
    unsigned calls; /* handed over and not returned yet */
    pthread_t *threads;
    size_t n_threads;

    pthread_mutex_t lock; /* of everything below; the rest is the loop's thread's */
    pthread_cond_t changed;
    struct list queue;
    bool stopping;
};

struct thread_pool *thread_pool_new(struct loop *loop, unsigned max_threads, unsigned max_queued)
{
    struct thread_pool *pool = mem_alloc(sizeof *pool);

    pool->loop = loop;
    pool->max_threads = max_threads;
    pool->max_queued = max_queued;
    list_init(&pool->queue);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    return pool;
}

void thread_pool_free(struct thread_pool *pool)
{
    if (!pool)
        return;
    assert(pool->calls == 0);
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->n_threads; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool->threads);
    free(pool);
}

static void finish(void *arg)
{
    struct call *call = arg;

    call->done = true;
    call->pool->calls--;
    task_wake(call->task);
}

static void *worker_main(void *arg)
{
    struct thread_pool *pool = arg;
    struct list *link;

    pthread_mutex_lock(&pool->lock);
    while (!pool->stopping) {
        if (!(link = list_take_first(&pool->queue))) {
            pthread_cond_wait(&pool->changed, &pool->lock);
            continue;
        }
        pthread_mutex_unlock(&pool->lock);

        struct call *call = CONTAINER_OF(link, struct call, link);
        call->fn(call->arg);
        loop_post(pool->loop, finish, call);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* A thread inherits from the calling task that signals wait: they are for the loop's thread. */
static void start_thread(struct thread_pool *pool)
{
    pthread_t *thread = &ARRAY_ADD(pool->threads, pool->n_threads);

    if (pthread_create(thread, NULL, worker_main, pool))
        abort();
}

struct err *thread_pool_run(struct task *self, struct thread_pool *pool, void (*fn)(void *arg),
                            void *arg)
{
    struct call call = {.pool = pool, .task = self, .fn = fn, .arg = arg};

    assert(loop_uv(pool->loop));
    if (pool->calls >= pool->max_threads + pool->max_queued)
        return err_new(ERR_EXHAUSTED, "too many system calls: %u are running and %u are waiting",
                       pool->max_threads, pool->max_queued);
    pool->calls++;
    if (pool->n_threads < pool->max_threads && pool->n_threads < pool->calls)
        start_thread(pool);

    pthread_mutex_lock(&pool->lock);
    list_append(&pool->queue, &call.link);
    pthread_cond_signal(&pool->changed);
    pthread_mutex_unlock(&pool->lock);

    while (!call.done)
        task_park_uninterruptible(self);
    return NULL;
}

unsigned thread_pool_busy(const struct thread_pool *pool)
{
    return pool->calls < pool->max_threads ? pool->calls : pool->max_threads;
}

void thread_pool_pause(unsigned ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000L * 1000}, NULL);
}
