/* workqueue.h - keys that need work, and the tasks that do it.
 *
 * The guarantees are those of client-go's work queue: a key is worked on by one task at a time; a
 * key that is added while it is worked on is worked on once more afterwards, so no change is lost;
 * a key that is added twice while it waits is worked on once. A work function that fails is tried
 * again as its error's kind says: later and ever less often, not before a given time, soon, or not
 * until something changes. A key that is added meanwhile does not wait for that. Loop's thread.
 */
#pragma once

#include "lib/rt/group.h"

struct workqueue;

/* Brings one object to where it should be. */
typedef struct err *workqueue_work_fn(struct task *self, void *ctx, const char *key);

struct workqueue_config {
    const char *name; /* for logs and metrics; must outlive the queue */
    unsigned max_tasks;
    uint64_t most_pause_ms; /* between attempts that fail; 0: 5 minutes */
    workqueue_work_fn *work;
    void *ctx;

    /* Called after every piece of work, to log and to count; `err` is NULL for success. */
    void (*finished)(void *ctx, const struct workqueue *queue, const char *key,
                     const struct err *err, uint64_t duration_ms);
};

/* The tasks are members of `group`; the queue may be freed when that is closed. */
struct workqueue *workqueue_new(struct task_group *group, const struct workqueue_config *config);
void workqueue_free(struct workqueue *queue);
DEFINE_CLEANUP(struct workqueue, workqueue_free)

const char *workqueue_name(const struct workqueue *queue);
size_t workqueue_depth(const struct workqueue *queue); /* keys that wait for a task */

void workqueue_add(struct workqueue *queue, const char *key);
/* At a loop_now() time; of two times for one key the earlier counts. */
void workqueue_add_at(struct workqueue *queue, const char *key, uint64_t due);
