/* vm_settle.h - until a change of a VM has ended of which no operation tells; for vm_queue.c, the
 * VM's task.
 *
 * What ends is seen in the VM's model. A change that has not ended long after it should have is
 * taken not to end any more, whoever began it: the model counts as failed from then on
 * (CLOUD_INSTANCE_FAILED), so that it is repaired, and the next change goes in the way that takes
 * the place of what is under way (vm_update.h).
 */
#pragma once

#include "provisioner-lib/azure/vm_batch.h"

/* How long the operation of its next change is waited for: twice as long for an hour after each
 * that did not end, so that a cloud that is slow gets done in the end. What takes disks from a
 * machine that is out of service has less time: there is a way that does not need the machine. */
uint64_t vm_patience_ms(const struct vm *vm, const struct vm_batch *batch);

/* Until the model no longer says that it is changing, or for so long. */
struct err *vm_settle(struct task *self, struct vm *vm, enum cloud_urgency urgency, uint64_t for_ms)
    __attribute__((warn_unused_result));

/* The change may go on, and then Azure refuses the whole of any other that concerns its disks. */
bool vm_outcome_is_unknown(const struct err *err);
/* It has been waited for, and goes on. */
void vm_note_overrun(struct vm *vm);

/* Refused because somebody else changes the VM, and not for one of the disks. */
bool vm_is_changed_by_others(const struct err *err);
/* A change that is refused takes from what Azure allows of changes, a look does not: two minutes at
 * most, then a change is tried, whatever the model says. */
void vm_see_others_end(struct task *self, struct vm *vm, enum cloud_urgency urgency);
