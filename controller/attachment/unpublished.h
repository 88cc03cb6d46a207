/* unpublished.h - whether a primary on record is on a node from which Kubernetes has unpublished
 * the volume, without a call to this driver: as when another driver was installed in between, the
 * custom resources are of a backup, or somebody has taken the finalizers from a VolumeAttachment.
 */
#pragma once

#include "controller/controller.h"

/* There is no VolumeAttachment of the volume for the attachment's node, or of a volume that is not
 * known, and the node does not use the disk (cache/volume_in_use.h). Asks the API server, which has
 * all VolumeAttachments; what is decided by the answer has to be written on the condition that the
 * attachment has not changed since. */
struct err *unpublished_read(struct task *self, struct controller *controller,
                             const struct kube_object *attachment, bool *ret)
    __attribute__((warn_unused_result));

/* Makes it a replica, as ControllerUnpublishVolume does, if it has not changed since; an Event says
 * so. `wanted_node`: for which Kubernetes has a VolumeAttachment instead; NULL: for none. */
struct err *unpublished_demote(struct task *self, struct controller *controller,
                               const struct kube_object *attachment, const char *wanted_node)
    __attribute__((warn_unused_result));
