/* volume_tasks.h - a task for each volume of this node for which there is something to do, so that
 * a disk that hangs stops only its own volume. Loop's thread.
 */
#pragma once

#include "lib/rt/group.h"
#include "node/node.h"

struct volume_task_kind {
    const char *name;
    /* Whether there is something to do, as far as is on record of the volume's attachment. */
    bool (*is_due)(const Api__AzVolumeAttachment *attachment);
    /* Does it, and returns when nothing is due any more. `volume` is an id in lower case. */
    void (*run)(struct task *self, struct node *node, const char *volume);
};

/* Looks after the volumes as long as the group lives. */
void volume_tasks_start(struct node *node, struct task_group *group,
                        const struct volume_task_kind *kind);
