#include "lib/rt/workers.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/list.h"

struct call {
    struct list link;
    struct workers *workers;
    struct task *task;
    void (*fn)(void *arg);
    void *arg;
    bool done;
};

struct workers {
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

struct workers *workers_new(struct loop *loop, unsigned max_threads, unsigned max_queued)
{
    struct workers *workers = mem_alloc(sizeof *workers);

    workers->loop = loop;
    workers->max_threads = max_threads;
    workers->max_queued = max_queued;
    list_init(&workers->queue);
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->changed, NULL);
    return workers;
}

void workers_free(struct workers *workers)
{
    if (!workers)
        return;
    assert(workers->calls == 0);
    pthread_mutex_lock(&workers->lock);
    workers->stopping = true;
    pthread_cond_broadcast(&workers->changed);
    pthread_mutex_unlock(&workers->lock);
    for (size_t i = 0; i < workers->n_threads; i++)
        pthread_join(workers->threads[i], NULL);
    pthread_cond_destroy(&workers->changed);
    pthread_mutex_destroy(&workers->lock);
    free(workers->threads);
    free(workers);
}

static void finish(void *arg)
{
    struct call *call = arg;

    call->done = true;
    call->workers->calls--;
    task_wake(call->task);
}

static void *worker_main(void *arg)
{
    struct workers *workers = arg;
    struct list *link;

    pthread_mutex_lock(&workers->lock);
    while (!workers->stopping) {
        if (!(link = list_take_first(&workers->queue))) {
            pthread_cond_wait(&workers->changed, &workers->lock);
            continue;
        }
        pthread_mutex_unlock(&workers->lock);

        struct call *call = CONTAINER_OF(link, struct call, link);
        call->fn(call->arg);
        loop_post(workers->loop, finish, call);
        pthread_mutex_lock(&workers->lock);
    }
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

/* A thread inherits from the calling task that signals wait: they are for the loop's thread. */
static void start_thread(struct workers *workers)
{
    pthread_t *thread = &ARRAY_ADD(workers->threads, workers->n_threads);

    if (pthread_create(thread, NULL, worker_main, workers))
        abort();
}

struct err *workers_run(struct task *self, struct workers *workers, void (*fn)(void *arg),
                        void *arg)
{
    struct call call = {.workers = workers, .task = self, .fn = fn, .arg = arg};

    assert(loop_uv(workers->loop));
    if (workers->calls >= workers->max_threads + workers->max_queued)
        return err_new(ERR_EXHAUSTED, "%u calls to the system are running and %u are waiting",
                       workers->max_threads, workers->max_queued);
    workers->calls++;
    if (workers->n_threads < workers->max_threads && workers->n_threads < workers->calls)
        start_thread(workers);

    pthread_mutex_lock(&workers->lock);
    list_append(&workers->queue, &call.link);
    pthread_cond_signal(&workers->changed);
    pthread_mutex_unlock(&workers->lock);

    while (!call.done)
        task_park_through(self);
    return NULL;
}

unsigned workers_busy(const struct workers *workers)
{
    return workers->calls < workers->max_threads ? workers->calls : workers->max_threads;
}
