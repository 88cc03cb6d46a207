/* provisioner.h - external-provisioner with kube-controller-manager's volume binder: makes the disk
 * of a claim once its first pod has chosen a zone, and deletes it after the claim.
 *
 * It calls CreateVolume and DeleteVolume until they succeed; a claim that was deleted meanwhile
 * ends the attempts only after an error that says that there is no disk. A volume is deleted when
 * it has no VolumeAttachment any more.
 */
#pragma once

#include "lib/rt/task.h"

struct volume;

/* DeleteVolume until it succeeds, as soon as there is no VolumeAttachment of the volume. */
struct err *provisioner_delete(struct task *self, struct volume *volume)
    __attribute__((warn_unused_result));
/* A task of the sim that goes with the volume from its claim to its end. */
void provisioner_start(struct volume *volume);
