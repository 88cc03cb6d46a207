/* group.h - tasks that are ended together.
 *
 * Whoever starts tasks that outlive the call owns a group, and closes it before what the tasks use
 * goes away: closing cancels every member and waits until all have returned. A group that is being
 * closed takes no new members. Loop's thread.
 */
#pragma once

#include "lib/rt/wait.h"

struct task_group {
    struct loop *loop;
    struct list members;
    unsigned n_members;
    bool closing;
    struct waiters ended; /* woken when a member has returned */
};

void group_init(struct task_group *group, struct loop *loop);

/* Starts fn(task, arg) as a member; `name` must outlive it. False, and nothing started, when the
 * group is closing. */
bool group_spawn(struct task_group *group, const char *name, task_fn *fn, void *arg);

/* Cancels the members without waiting. */
void group_cancel(struct task_group *group);
/* Cancels the members and waits for the last to return, even if the caller is cancelled too. */
void group_close(struct task *self, struct task_group *group);
