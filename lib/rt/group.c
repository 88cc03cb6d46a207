#include "lib/rt/group.h"

#include <stdlib.h>

#include "lib/base/alloc.h"

struct member {
    struct list link;
    struct task_group *group;
    struct task *task;
    task_fn *fn;
    void *arg;
};

void group_init(struct task_group *group, struct loop *loop)
{
    *group = (struct task_group){.loop = loop};
    list_init(&group->members);
    waiters_init(&group->ended);
}

static void member_main(struct task *self, void *arg)
{
    struct member *member = arg;
    struct task_group *group = member->group;

    member->fn(self, member->arg);
    list_remove(&member->link);
    free(member);
    group->n_members--;
    waiters_wake(&group->ended);
}

bool group_spawn(struct task_group *group, const char *name, task_fn *fn, void *arg)
{
    if (group->closing)
        return false;

    struct member *member = mem_alloc(sizeof *member);
    *member = (struct member){.group = group, .fn = fn, .arg = arg};
    list_append(&group->members, &member->link);
    group->n_members++;
    member->task = loop_spawn(group->loop, name, member_main, member);
    return true;
}

void group_cancel(struct task_group *group)
{
    LIST_FOREACH(&group->members, link)
        task_cancel(CONTAINER_OF(link, struct member, link)->task);
}

void group_close(struct task *self, struct task_group *group)
{
    group->closing = true;
    group_cancel(group);
    while (group->n_members > 0)
        wait_uninterruptible(self, &group->ended);
}
