/* attach.h - the attach of one disk: it is asked for as long as the records want it, and what it is
 * refused for is looked into. For attachment/reconcile.c.
 */
#pragma once

#include "controller/attachment/snapshot.h"

/* Carries out STEP_ATTACH. `ret_attached`: done, and `ret_seen` (cloud_instance_fini) is the model
 * of the VM that has the disk. Success without that: what was in the way is no more; plan anew. */
struct err *attach_disk(struct task *self, struct attachment_work *work,
                        const struct attachment_plan *plan, enum cloud_urgency urgency,
                        struct cloud_instance *ret_seen, bool *ret_attached)
    __attribute__((warn_unused_result));

/* The VM is full: how many disks it can have is recorded anew. */
void attach_look_up_limit(struct task *self, const struct attachment_work *work);
