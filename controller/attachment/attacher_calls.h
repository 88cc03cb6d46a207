/* attacher_calls.h - calls of external-attacher that are known to come.
 *
 * It makes one for each VolumeAttachment that is new, or deleted, but spreads them over seconds;
 * and where many move, the disks of those that have come are given up elsewhere, all at about the
 * same time. The VM of a node that has one call already, or is free after a change, is told of the
 * others, so that its next change waits for them: for as long as they keep coming, and two seconds
 * at most. A call that comes alone is not held up.
 */
#pragma once

#include "controller/controller.h"

struct attacher_calls;

/* Its tasks are the group's; free when that is closed. */
struct attacher_calls *attacher_calls_start(struct controller *controller,
                                            struct task_group *group);
void attacher_calls_free(struct attacher_calls *calls);

/* How many are to come that change the node's VM. */
size_t attacher_calls_to_come(const struct controller *controller, const char *node);

/* A change of the node's VM is on its way, or has ended; others may be coming. The VM is told
 * before this returns. Only while this process leads. */
void attacher_calls_expect(const struct controller *controller, const char *node,
                           const char *instance_id);
/* A VolumeAttachment or an AzVolumeAttachment of the node has changed. */
void attacher_calls_changed(const struct controller *controller, const char *node);
