/* volume_in_use.h - whether a node that a volume is or was unpublished from may write to it still.
 *
 * Kubernetes unpublishes a volume from a node that it has not heard of for a while, whether or not
 * that node lives on. While it may, its attachment must not become a replica: another node would
 * become the primary, and there would be two writers. For the same reason none is placed there.
 */
#pragma once

#include "controller/controller.h"

enum volume_in_use {
    VOLUME_NOT_IN_USE,     /* it does not have the volume mounted, or somebody vouches for it */
    VOLUME_IN_USE_MOUNTED, /* by kubelet's last word */
    VOLUME_IN_USE_JOB, /* what writes to the disk, by its plug-in's word (ANNOTATION_RUNNING_JOB) */
    VOLUME_IN_USE_NO_NODE, /* there is no Node; of its VM nothing is known */
};

/* A pure function. NULL: there is no Node, or no AzVolumeAttachment of the volume for it. */
enum volume_in_use volume_in_use_of(const struct kube_object *node,
                                    const struct kube_object *attachment, const char *driver_name,
                                    const char *volume_id);

/* Asks the API server, never the cache. UNAVAILABLE if it does not say. What is decided by the
 * answer has to be written on the condition that the attachment has not changed since: a program
 * that begins changes it. */
struct err *volume_in_use_read(struct task *self, struct controller *controller, const char *node,
                               const char *volume_name, const char *volume_id,
                               enum volume_in_use *ret) __attribute__((warn_unused_result));
