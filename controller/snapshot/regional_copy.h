/* regional_copy.h - the steps of plan.h by which a snapshot gets into another region than its disk.
 *
 * Azure takes a snapshot of a disk only in the disk's region, and copies it from there. The local
 * one is named after the snapshot, is marked as everything that the driver creates, and is gone
 * when the copy is complete.
 */
#pragma once

#include "controller/snapshot/work.h"

/* What the record is to say of a local one before anything is created: `local` of its status, null
 * if the snapshot is to be in the region of its disk. INVALID if it cannot be what is asked for;
 * EXISTS if one of its name is another one. */
struct err *regional_copy_plan(struct task *self, struct snapshot_work *work, json_t **ret_local)
    __attribute__((warn_unused_result));

struct err *regional_copy_take_local(struct task *self, struct snapshot_work *work)
    __attribute__((warn_unused_result));
struct err *regional_copy_announce(struct task *self, struct snapshot_work *work)
    __attribute__((warn_unused_result));
struct err *regional_copy_begin(struct task *self, struct snapshot_work *work)
    __attribute__((warn_unused_result));
struct err *regional_copy_delete_local(struct task *self, struct snapshot_work *work)
    __attribute__((warn_unused_result));
