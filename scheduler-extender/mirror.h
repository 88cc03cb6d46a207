/* mirror.h - the extender's copy of the cluster: stores, their reflectors and indexes.
 */
#pragma once

#include "lib/rt/group.h"
#include "scheduler-extender/extender.h"

/* Makes the stores and starts to fill them; the reflectors are members of `group`. */
void mirror_start(struct extender *extender, struct task_group *group);
bool mirror_is_synced(const struct extender *extender);
void mirror_free(struct extender *extender); /* after the group was closed */
