/* node_stage.h - NodeStageVolume as azdisk-node does it (node/csi_stage.c), over what is true of
 * the machine's VM.
 *
 * It waits until the volume's AzVolumeAttachment is attached with this node as its primary, and
 * until there is a device at the LUN; it looks whether that is the volume's disk, as far as what is
 * on it tells; and looks at the attachment again before it mounts.
 */
#pragma once

#include "lib/base/err.h"
#include "lib/rt/task.h"
#include "test/sim/mount.h"

/* What is attached there; NULL: nothing is. */
struct attachment *node_device_at(const struct machine *machine, unsigned lun);

/* Nothing is done if it is staged, unless another node has taken its fence: then it is staged anew,
 * when no pod has it (node/csi_publish.c). The mount is gone if this returns CANCELED: the machine
 * has lost its power. */
struct err *node_stage(struct task *self, struct mount *mount) __attribute__((warn_unused_result));
/* NodeUnstageVolume, at the end. */
void node_unstage(struct mount *mount);
