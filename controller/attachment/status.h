/* status.h - writes to an AzVolumeAttachment, one function for each kind.
 *
 * Every write names the version that was read, and fails with CONFLICT if the object has changed
 * since. When a function returns, the cache contains what it has written.
 */
#pragma once

#include "controller/attachment/snapshot.h"

struct err *attachment_set_finalizer(struct task *self, struct attachment_work *work, bool present)
    __attribute__((warn_unused_result));
struct err *status_set_attaching(struct task *self, struct attachment_work *work, int lun)
    __attribute__((warn_unused_result));
struct err *status_set_attached(struct task *self, struct attachment_work *work, int lun)
    __attribute__((warn_unused_result));
struct err *status_set_size(struct task *self, struct attachment_work *work)
    __attribute__((warn_unused_result));
struct err *status_set_role(struct task *self, struct attachment_work *work)
    __attribute__((warn_unused_result));
/* The cloud no longer has what was attached. */
struct err *status_set_lost(struct task *self, struct attachment_work *work)
    __attribute__((warn_unused_result));
/* The VM has another disk at the LUN of this attachment, which is a neighbour. No attachment of its
 * volume becomes the primary in the meantime. */
struct err *status_set_displaced(struct task *self, struct controller *controller,
                                 const struct kube_object *object)
    __attribute__((warn_unused_result));
/* Records the VM. */
struct err *status_set_vm(struct task *self, struct attachment_work *work)
    __attribute__((warn_unused_result));
/* The disk was attached to another VM, which no longer has it. */
struct err *status_set_moved(struct task *self, struct attachment_work *work)
    __attribute__((warn_unused_result));
struct err *status_set_detaching(struct task *self, struct attachment_work *work)
    __attribute__((warn_unused_result));

/* Records the error in the object, and returns it so that its kind decides about the retry. */
struct err *status_set_failure(struct task *self, struct attachment_work *work, struct err *err)
    __attribute__((warn_unused_result));
