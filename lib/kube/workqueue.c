#include "lib/kube/workqueue.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"
#include "lib/rt/backoff.h"

/* After a failure: 0.1 s, doubling to 5 minutes, unless the queue says less. Work that must not
 * wait that long is woken by the change that makes it possible, if there is one. */
enum { RETRY_LEAST_MS = 100, RETRY_MOST_MS = 5 * 60 * 1000 };

struct item {
    char *key;
    struct workqueue *queue;
    struct list link; /* in the order of waiting */
    bool waiting;     /* for a task */
    bool working;
    bool dirty; /* added while working */
    struct timer timer;
    struct backoff backoff;
    UT_hash_handle hh;
};

struct workqueue {
    struct workqueue_config config;
    struct task_group *group;
    struct item *items;
    struct list order;
    size_t depth;
    unsigned tasks;
};

struct workqueue *workqueue_new(struct task_group *group, const struct workqueue_config *config)
{
    struct workqueue *queue = mem_alloc(sizeof *queue);

    *queue = (struct workqueue){.config = *config, .group = group};
    if (!config->most_pause_ms)
        queue->config.most_pause_ms = RETRY_MOST_MS;
    list_init(&queue->order);
    return queue;
}

static void drop(struct workqueue *queue, struct item *item)
{
    loop_stop_timer(queue->group->loop, &item->timer);
    list_remove(&item->link);
    HASH_DEL(queue->items, item);
    free(item->key);
    free(item);
}

void workqueue_free(struct workqueue *queue)
{
    if (!queue)
        return;
    HASH_FOREACH(queue->items, item)
        drop(queue, item);
    free(queue);
}

const char *workqueue_name(const struct workqueue *queue)
{
    return queue->config.name;
}

size_t workqueue_depth(const struct workqueue *queue)
{
    return queue->depth;
}

static struct item *find_or_make(struct workqueue *queue, const char *key)
{
    struct item *item;

    HASH_FIND_STR(queue->items, key, item);
    if (item)
        return item;
    item = mem_alloc(sizeof *item);
    item->key = mem_strdup(key);
    item->queue = queue;
    item->backoff =
        (struct backoff){.least_ms = RETRY_LEAST_MS, .most_ms = queue->config.most_pause_ms};
    list_init(&item->link);
    HASH_ADD_KEYPTR(hh, queue->items, item->key, strlen(item->key), item);
    return item;
}

/* An item is kept only for as long as there is something to remember. */
static void drop_if_idle(struct workqueue *queue, struct item *item)
{
    if (!item->waiting && !item->working && !item->timer.index && !item->backoff.attempts)
        drop(queue, item);
}

/* ---- work ---- */

static void plan_retry(struct workqueue *queue, struct item *item, const struct err *err)
{
    struct loop *loop = queue->group->loop;
    uint64_t pause = 0;

    switch (err_kind_retry(err_kind(err))) {
    case ERR_RETRY_NEVER:
        backoff_reset(&item->backoff);
        return;
    case ERR_RETRY_AFTER:
        pause = err_retry_after_ms(err);
        if (pause < RETRY_LEAST_MS)
            pause = RETRY_LEAST_MS;
        break;
    case ERR_RETRY_NOW: /* what has to be read first is on its way */
    case ERR_RETRY_BACKOFF:
        pause = backoff_next(&item->backoff, loop_random(loop));
        break;
    }
    workqueue_add_at(queue, item->key, loop_deadline(loop, pause));
}

static void work_on(struct task *self, struct workqueue *queue, struct item *item)
{
    struct loop *loop = queue->group->loop;
    uint64_t began = loop_now(loop);

    item->waiting = false;
    item->working = true;
    queue->depth--;
    CLEANUP(err_freep) struct err *err = queue->config.work(self, queue->config.ctx, item->key);
    item->working = false;
    if (queue->config.finished)
        queue->config.finished(queue->config.ctx, queue, item->key, err, loop_now(loop) - began);
    if (err)
        plan_retry(queue, item, err);
    else
        backoff_reset(&item->backoff);
    if (item->dirty) {
        item->dirty = false;
        workqueue_add(queue, item->key);
    }
    drop_if_idle(queue, item);
}

static void run(struct task *self, void *arg)
{
    struct workqueue *queue = arg;
    struct list *link;

    while (!task_is_cancelled(self) && (link = list_take_first(&queue->order))) {
        work_on(self, queue, CONTAINER_OF(link, struct item, link));
        /* A long queue must not keep timers and sockets waiting: the lease is renewed there. */
        if (!list_is_empty(&queue->order))
            err_free(task_sleep(self, 0));
    }
    queue->tasks--;
}

/* ---- adding ---- */

void workqueue_add(struct workqueue *queue, const char *key)
{
    struct item *item = find_or_make(queue, key);

    if (item->working)
        item->dirty = true;
    if (item->working || item->waiting)
        return;
    loop_stop_timer(queue->group->loop, &item->timer);
    item->waiting = true;
    queue->depth++;
    list_append(&queue->order, &item->link);
    if (queue->tasks < queue->config.max_tasks &&
        group_spawn(queue->group, queue->config.name, run, queue))
        queue->tasks++;
}

static void on_due(void *ctx)
{
    struct item *item = ctx;

    workqueue_add(item->queue, item->key);
}

void workqueue_add_at(struct workqueue *queue, const char *key, uint64_t due)
{
    struct item *item = find_or_make(queue, key);

    if (item->waiting || (item->timer.index && item->timer.due <= due))
        return;
    loop_start_timer(queue->group->loop, &item->timer, due, on_due, item);
}
