/* informers.h - the extender's copy of the cluster: stores, their reflectors and indexes.
 */
#pragma once

#include "lib/rt/group.h"
#include "scheduler-extender/extender.h"

/* Makes the stores and starts to fill them; the reflectors are members of `group`. */
void informers_start(struct extender *extender, struct task_group *group);
bool informers_is_synced(const struct extender *extender);
void informers_free(struct extender *extender); /* after the group was closed */
