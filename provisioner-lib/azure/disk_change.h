/* disk_growth.h - a managed disk becomes larger; for azure.c, which keeps VMs from changing the
 * disk meanwhile.
 */
#pragma once

#include "provisioner-lib/azure/arm_client.h"
#include "provisioner-lib/cloud.h"

/* To this size, unless it is that large already; `ret` is what the disk is then. PRECONDITION if
 * Azure does not allow it while a VM has the disk; BUSY if the disk is still smaller. */
struct err *disk_growth_carry_out(struct task *self, struct arm_client *arm, const char *id,
                                  int64_t size_gib, struct cloud_disk *ret)
    __attribute__((warn_unused_result));
