/* managed_disk.h - managed disks: create, look, list, delete.
 */
#pragma once

#include "provisioner-lib/azure/arm_client.h"
#include "provisioner-lib/cloud.h"

/* The id that the disk has or would have; free() it. */
char *managed_disk_id(const struct arm_client *arm, const struct cloud_disk_spec *spec)
    __attribute__((warn_unused_result));

/* Creates the disk, or finishes what an earlier call began. A disk of that name that was not
 * created for this volume, or that differs in size, kind, zone or shares, is EXISTS and stays as it
 * is. */
struct err *managed_disk_create(struct task *self, struct arm_client *arm,
                                const struct cloud_disk_spec *spec, struct cloud_disk *ret)
    __attribute__((warn_unused_result));
struct err *managed_disk_get(struct task *self, struct arm_client *arm, const char *id,
                             struct cloud_disk *ret) __attribute__((warn_unused_result));
/* All disks of the resource group in which `id` is, added to `ret`. */
struct err *managed_disk_list(struct task *self, struct arm_client *arm, const char *id,
                              struct cloud_disks *ret) __attribute__((warn_unused_result));
struct err *managed_disk_delete(struct task *self, struct arm_client *arm, const char *id)
    __attribute__((warn_unused_result));
