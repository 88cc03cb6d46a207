/* disk_change.h - a managed disk becomes larger, faster or of another kind; for azure.c, which
 * keeps VMs from attaching and detaching the disk meanwhile.
 */
#pragma once

#include "provisioner-lib/azure/arm_client.h"
#include "provisioner-lib/cloud.h"

/* What is so already costs no call but a read; `ret` is what the disk is then. PRECONDITION if
 * Azure does not allow it while a VM has the disk; BUSY if the disk is still what it was. */
struct err *disk_change_carry_out(struct task *self, struct arm_client *arm, const char *id,
                                  const struct cloud_disk_change *change, struct cloud_disk *ret)
    __attribute__((warn_unused_result));
