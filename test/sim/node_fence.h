/* node_fence.h - the fence around a volume's disk as the plug-in of a simulated machine takes it
 * (node/volume_fence.h), and what it does when it is asked to preempt another's
 * (docs/failover.md), by the driver's own plan (provisioner-lib/host/fence.h).
 */
#pragma once

#include "lib/base/err.h"
#include "lib/rt/task.h"
#include "test/sim/mount.h"
#include "test/sim/node_attachment.h"

/* Whether its disk gets a fence. */
bool volume_is_fenced(const struct volume *volume);

/* Before anything is written to the disk; it is on record when this returns. */
struct err *node_fence_take(struct task *self, struct mount *mount, const struct place *place)
    __attribute__((warn_unused_result));
/* Whether it is there still. */
struct err *node_fence_check(const struct mount *mount, const struct place *place)
    __attribute__((warn_unused_result));
/* Shuts down what another node has taken the fence of, and says that it is lost. */
void node_fence_watch(struct machine *machine);
/* At the end of a mount; what cannot be done is left. */
void node_fence_release(struct mount *mount);

/* An AzVolumeAttachment of the machine has changed. Must not yield or write. */
void node_fence_heard(struct machine *machine, const json_t *attachment);
/* The plug-in may have missed something. */
void node_fence_look(struct machine *machine);
