/* queue.h - keys that need work, and the tasks that do it.
 *
 * The guarantees are those of client-go's work queue: a key is worked on by one task at a time; a
 * key that is added while it is worked on is worked on once more afterwards, so no change is lost;
 * a key that is added twice while it waits is worked on once. A work function that fails is tried
 * again as its error's kind says: later and ever less often, not before a given time, soon, or not
 * until something changes. A key that is added meanwhile does not wait for that. Loop's thread.
 */
#pragma once

#include "lib/rt/group.h"

struct queue;

/* Brings one object to where it should be. */
typedef struct err *queue_work_fn(struct task *self, void *ctx, const char *key);

struct queue_config {
    const char *name; /* for logs and metrics; must outlive the queue */
    unsigned max_tasks;
    queue_work_fn *work;
    void *ctx;

    /* Called after every piece of work, to log and to count; `err` is NULL for success. */
    void (*finished)(void *ctx, const struct queue *queue, const char *key, const struct err *err,
                     uint64_t duration_ms);
};

/* The tasks are members of `group`; the queue may be freed when that is closed. */
struct queue *queue_new(struct task_group *group, const struct queue_config *config);
void queue_free(struct queue *queue);
DEFINE_CLEANUP(struct queue, queue_free)

const char *queue_name(const struct queue *queue);
size_t queue_depth(const struct queue *queue); /* keys that wait for a task */

void queue_add(struct queue *queue, const char *key);
/* At a loop_now() time; of two times for one key the earlier counts. */
void queue_add_at(struct queue *queue, const char *key, uint64_t due);
