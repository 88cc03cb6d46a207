/* operation.h - long-running operations.
 *
 * An operation is accepted, takes its time and ends; clients poll it by its id. What it does at its
 * end is decided by its kind. Ended operations are kept for a day, as Azure does, and not more than
 * OPERATION_MAX_ENDED of them.
 *
 * Operations belong to the model. What it changes points to its operation while that is in
 * progress.
 */
#pragma once

#include "lib/base/list.h"
#include "lib/rt/random.h"
#include "test/azsim/model/model.h"
#include "test/azsim/model/refusal.h"

enum { OPERATION_MAX_ENDED = 10000 };

enum operation_owner {
    OPERATION_OF_DISK,
    OPERATION_OF_SNAPSHOT,
    OPERATION_OF_VM,
    OPERATION_OF_SCALE_SET,
    OPERATION_OF_GROUP,
};

/*   kind          name in records   what changes */
#define OPERATION_KINDS(ROW)                                                                       \
    ROW(DISK_CREATE, "diskCreate", OPERATION_OF_DISK)                                              \
    ROW(DISK_UPDATE, "diskUpdate", OPERATION_OF_DISK)                                              \
    ROW(DISK_DELETE, "diskDelete", OPERATION_OF_DISK)                                              \
    ROW(DISK_GRANT, "diskGrantAccess", OPERATION_OF_DISK)                                          \
    ROW(DISK_REVOKE, "diskRevokeAccess", OPERATION_OF_DISK)                                        \
    ROW(SNAPSHOT_CREATE, "snapshotCreate", OPERATION_OF_SNAPSHOT)                                  \
    ROW(SNAPSHOT_UPDATE, "snapshotUpdate", OPERATION_OF_SNAPSHOT)                                  \
    ROW(SNAPSHOT_DELETE, "snapshotDelete", OPERATION_OF_SNAPSHOT)                                  \
    ROW(SNAPSHOT_GRANT, "snapshotGrantAccess", OPERATION_OF_SNAPSHOT)                              \
    ROW(SNAPSHOT_REVOKE, "snapshotRevokeAccess", OPERATION_OF_SNAPSHOT)                            \
    ROW(VM_UPDATE, "vmUpdate", OPERATION_OF_VM)                                                    \
    ROW(VM_ATTACH_DETACH, "vmAttachDetach", OPERATION_OF_VM)                                       \
    ROW(VM_DELETE, "vmDelete", OPERATION_OF_VM)                                                    \
    ROW(VM_START, "start", OPERATION_OF_VM)                                                        \
    ROW(VM_POWER_OFF, "powerOff", OPERATION_OF_VM)                                                 \
    ROW(VM_DEALLOCATE, "deallocate", OPERATION_OF_VM)                                              \
    ROW(VM_HIBERNATE, "hibernate", OPERATION_OF_VM)                                                \
    ROW(VM_REAPPLY, "reapply", OPERATION_OF_VM)                                                    \
    ROW(VM_RUN_COMMAND, "runCommand", OPERATION_OF_VM)                                             \
    ROW(VM_ASSESS_PATCHES, "assessPatches", OPERATION_OF_VM)                                       \
    ROW(VM_INSTALL_PATCHES, "installPatches", OPERATION_OF_VM)                                     \
    ROW(SCALE_SET_UPDATE, "scaleSetUpdate", OPERATION_OF_SCALE_SET)                                \
    ROW(SCALE_SET_ACT, "scaleSetInstances", OPERATION_OF_SCALE_SET)                                \
    ROW(SCALE_SET_DELETE, "scaleSetDelete", OPERATION_OF_SCALE_SET)                                \
    ROW(GROUP_DELETE, "groupDelete", OPERATION_OF_GROUP)

enum operation_kind {
#define OPERATION_ENUM(kind, name, owner) OPERATION_##kind,
    OPERATION_KINDS(OPERATION_ENUM)
#undef OPERATION_ENUM
        OPERATION_KIND_COUNT
};

enum operation_status {
    OPERATION_IN_PROGRESS,
    OPERATION_SUCCEEDED,
    OPERATION_FAILED,
    OPERATION_CANCELED, /* by a refusal with no code */
};

struct operation {
    struct model *model;
    enum operation_kind kind;
    enum operation_status status;
    char *target;             /* key of the disk, snapshot, VM, scale set or group */
    int64_t start_us, end_us; /* planned, until it has ended */
    struct refusal *refusal;  /* why it failed */
    unsigned stuck_by;        /* the rule of a fault that keeps it from ending; 0: none */
    struct timer timer;
    struct list by_end; /* of the model's ended operations */
    UT_hash_handle hh;
    char id[UUID_SIZE];
};

/* A new operation that ends after `duration_ms`, whatever the faults. */
struct operation *operation_force(struct model *model, enum operation_kind kind, const char *target,
                                  uint64_t duration_ms);
/* The same, but for the faults. */
struct operation *operation_start(struct model *model, enum operation_kind kind, const char *target,
                                  uint64_t duration_ms);
/* An operation as it was before a restart; what was in progress goes on. Takes the refusal. */
struct operation *operation_restore(struct model *model, const char *id, enum operation_kind kind,
                                    enum operation_status status, const char *target,
                                    int64_t start_us, int64_t end_us, struct refusal *refusal);
/* Ends it, now; takes the refusal, NULL for success. */
void operation_end(struct operation *operation, struct refusal *refusal);
/* Lets what a rule of a fault kept from ending end now; 0: of any rule. */
void operations_release(struct model *model, unsigned rule);
void operation_free(struct operation *operation); /* removes it from its model */

struct operation *operation_find(const struct model *model, const char *id); /* or NULL */
enum operation_owner operation_owner(const struct operation *operation);
/* Whether it changes something of that subscription. */
bool operation_is_of(const struct operation *operation, const struct subscription *subscription);
/* "InProgress", "Succeeded", "Failed", "Canceled" */
const char *operation_status_name(enum operation_status status);
bool operation_status_from_name(const char *name, enum operation_status *ret);
const char *operation_kind_name(enum operation_kind kind);
bool operation_kind_from_name(const char *name, enum operation_kind *ret);
