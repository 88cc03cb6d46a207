/* disk_snapshot.h - snapshots of managed disks: create, copy, look, list, delete.
 */
#pragma once

#include "provisioner-lib/azure/arm_client.h"
#include "provisioner-lib/cloud.h"

/* The id that the snapshot has or would have; free() it. INVALID if that is of no disk. */
struct err *disk_snapshot_id(const struct cloud_snapshot_spec *spec, char **ret_id)
    __attribute__((warn_unused_result));

/* Creates the snapshot, or finishes what an earlier call began. A snapshot of that name that is of
 * another disk, or that somebody else has created, is EXISTS and stays as it is. */
struct err *disk_snapshot_create(struct task *self, struct arm_client *arm,
                                 const struct cloud_snapshot_spec *spec, struct cloud_snapshot *ret)
    __attribute__((warn_unused_result));
/* The same of a copy of spec->source_id in the region of spec->parameters. */
struct err *disk_snapshot_copy(struct task *self, struct arm_client *arm,
                               const struct cloud_snapshot_spec *spec, struct cloud_snapshot *ret)
    __attribute__((warn_unused_result));
struct err *disk_snapshot_get(struct task *self, struct arm_client *arm, const char *id,
                              struct cloud_snapshot *ret) __attribute__((warn_unused_result));
/* All snapshots of the resource group in which `id` is, added to `ret`. */
struct err *disk_snapshot_list(struct task *self, struct arm_client *arm, const char *id,
                               struct cloud_snapshots *ret) __attribute__((warn_unused_result));
struct err *disk_snapshot_delete(struct task *self, struct arm_client *arm, const char *id)
    __attribute__((warn_unused_result));
