/* status.h - what is written into an AzVolumeAttachment, one function for each thing.
 *
 * Every write names the version that was read and fails with CONFLICT if anybody has written
 * since; what is written is in the cache when the function returns.
 */
#pragma once

#include "controller/attachment/snapshot.h"

struct err *attachment_set_finalizer(struct task *self, struct attachment_work *work, bool present)
    __attribute__((warn_unused_result));
struct err *status_set_attaching(struct task *self, struct attachment_work *work, int lun)
    __attribute__((warn_unused_result));
struct err *status_set_attached(struct task *self, struct attachment_work *work, int lun)
    __attribute__((warn_unused_result));
struct err *status_set_role(struct task *self, struct attachment_work *work)
    __attribute__((warn_unused_result));
/* The cloud no longer has what was attached. */
struct err *status_set_lost(struct task *self, struct attachment_work *work)
    __attribute__((warn_unused_result));
/* The cloud has another disk at the LUN of this attachment, a neighbour. Nobody becomes the primary
 * of its volume meanwhile. */
struct err *status_set_displaced(struct task *self, struct controller *controller,
                                 const struct kube_object *object)
    __attribute__((warn_unused_result));
/* Which VM it is. */
struct err *status_set_vm(struct task *self, struct attachment_work *work)
    __attribute__((warn_unused_result));
/* It was attached to another VM, which does not have it any more. */
struct err *status_set_moved(struct task *self, struct attachment_work *work)
    __attribute__((warn_unused_result));
struct err *status_set_detaching(struct task *self, struct attachment_work *work)
    __attribute__((warn_unused_result));

/* The failure becomes visible in the object; it is also returned, to be tried again as its kind
 * says. */
struct err *status_set_failure(struct task *self, struct attachment_work *work, struct err *err)
    __attribute__((warn_unused_result));
