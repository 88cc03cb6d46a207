/* turn.h - in which order the snapshots of a disk are copied to other regions.
 *
 * Azure copies one of a disk at a time, and refuses one that is older than what it has copied
 * already. So each waits for those that were taken before it, and for those that may have been.
 */
#pragma once

#include "controller/controller.h"

/* Whether this one, whose local snapshot was taken, waits for another one of its disk. */
bool snapshot_waits_for_turn(const struct controller *controller,
                             const struct kube_object *snapshot);
/* This one cannot be completed, which is on record: what follows from it. An error alone is no
 * change that anybody is told of. */
void snapshot_enqueue_failed(const struct controller *controller,
                             const struct kube_object *snapshot);
/* Something has changed about this one: those of its disk that may have waited for it are looked
 * at. */
void snapshot_enqueue_turns(const struct controller *controller,
                            const struct kube_object *snapshot);
