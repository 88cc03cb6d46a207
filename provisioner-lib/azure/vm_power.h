/* vm_power.h - whether a VM surely does not run, by its instance view.
 *
 * Azure's word for it is the only proof that a silent VM does not write which needs no fence
 * (docs/failover.md): so anything but a plain answer is none.
 */
#pragma once

#include "provisioner-lib/azure/arm_client.h"
#include "provisioner-lib/cloud.h"

/* Asks Azure. It is off if it is stopped or deallocated; not while that is under way, and not if it
 * hibernates: what it has in memory then, it writes later. */
struct err *vm_power(struct task *self, struct arm_client *arm, const char *id,
                     enum cloud_power *ret) __attribute__((warn_unused_result));
