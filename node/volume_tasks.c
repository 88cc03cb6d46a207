#include "node/volume_tasks.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/string_set.h"
#include "node/informers.h"

/* Outlives its tasks. */
struct keeper {
    struct node *node;
    struct task_group *group;
    const struct volume_task_kind *kind;
    struct string_set volumes; /* with a task */
    struct waiters ended;      /* woken when a task has */
};

struct volume_task {
    struct keeper *keeper;
    char *volume;
};

static void end(struct volume_task *task)
{
    string_set_remove(&task->keeper->volumes, task->volume);
    free(task->volume);
    free(task);
}

static void run(struct task *self, void *arg)
{
    struct volume_task *task = arg;
    struct keeper *keeper = task->keeper;

    keeper->kind->run(self, keeper->node, task->volume);
    end(task);
    waiters_wake(&keeper->ended);
    node_changed(keeper->node); /* it may be due again, by now */
}

static void start_if_due(struct keeper *keeper, const struct kube_object *object)
{
    const Api__AzVolumeAttachment *attachment = as_attachment(object);

    if (!attachment->spec || !attachment->spec->volume__id || !keeper->kind->is_due(attachment))
        return;
    CLEANUP(freep) char *volume = mem_lower(attachment->spec->volume__id);
    if (informers_find_attachment(keeper->node, volume) != object ||
        !string_set_add(&keeper->volumes, volume))
        return;
    struct volume_task *task = mem_alloc(sizeof *task);
    *task = (struct volume_task){.keeper = keeper, .volume = TAKE_PTR(volume)};
    if (!group_spawn(keeper->group, keeper->kind->name, run, task))
        end(task);
}

static void keep(struct task *self, void *arg)
{
    struct keeper *keeper = arg;
    struct node *node = keeper->node;

    while (!task_is_cancelled(self)) {
        STORE_FOREACH(node->attachments, object)
            start_if_due(keeper, object);
        err_free(wait_for_change(self, &node->changed, TIMER_NEVER));
    }
    while (string_set_count(&keeper->volumes) > 0)
        wait_uninterruptible(self, &keeper->ended);
    free(keeper);
}

void volume_tasks_start(struct node *node, struct task_group *group,
                        const struct volume_task_kind *kind)
{
    struct keeper *keeper = mem_alloc(sizeof *keeper);

    *keeper = (struct keeper){.node = node, .group = group, .kind = kind};
    waiters_init(&keeper->ended);
    if (!group_spawn(group, kind->name, keep, keeper))
        free(keeper);
}
