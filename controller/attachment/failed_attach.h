/* failed_attach.h - disks that Azure has taken into a VM's model and cannot attach.
 *
 * As long as such a disk is in the model, Azure tries it again with every change of the VM, and
 * every change fails: no other disk comes to that node. The first remedy is to repeat the change
 * (STEP_REPAIR). Where that fails, too, the disk is taken out of the model, and from then on after
 * each attempt to attach it that fails. While this process leads.
 */
#pragma once

#include "controller/attachment/snapshot.h"

/* A repair for its sake has failed, and it has not been attached since. */
bool failed_attach_is_known(const struct controller *controller, const char *uid);
void failed_attach_forget(struct controller *controller, const char *uid);

/* Repeats the VM's last change. That this fails is no error, but is known from then on. */
struct err *failed_attach_repair(struct task *self, const struct attachment_work *work,
                                 enum cloud_urgency urgency) __attribute__((warn_unused_result));

/* After an attempt that failed: where that is known of the disk, it is not left in the model. */
void failed_attach_take_back(struct task *self, const struct attachment_work *work,
                             enum cloud_urgency urgency);
