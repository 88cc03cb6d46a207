/* snapshot.h - snapshots of managed disks.
 *
 * A snapshot holds what its source held when the request was accepted, and lives on without it. One
 * of a PremiumV2 or Ultra disk, and one that is copied from another region (CopyStart), is complete
 * only some time after its creation has ended. Snapshots belong to the model.
 */
#pragma once

#include "test/azsim/model/copy.h"
#include "test/azsim/model/model.h"
#include "test/azsim/model/operation.h"
#include "test/azsim/model/resource.h"

enum {
    SNAPSHOT_MAX_INCREMENTAL = 500, /* of a disk */
    SNAPSHOT_MAX_PENDING = 3,       /* of a disk: those that are not complete */
    SNAPSHOT_MAX_BURST = 7,         /* incremental ones of a disk in five minutes */
    SNAPSHOT_LEAST_INSTANT = 60,    /* minutes of instant access */
    SNAPSHOT_MOST_INSTANT = 300,
};

struct snapshot {
    struct model *model;
    struct group *group;
    char *key, *id, *name;
    uint64_t sequence;
    json_t *body;
    const char *sku, *tier; /* of its own storage */
    bool incremental;
    bool slow;        /* of a disk whose data is copied in the background */
    bool sectors_4k;  /* fits PremiumV2 and Ultra disks only */
    int64_t size_gib; /* of the source */
    enum provisioning provisioning;
    int64_t created_us;
    struct copy copy;
    int64_t access_until_us; /* see access.h; 0: none */
    char unique_id[UUID_SIZE];
    char family_id[UUID_SIZE]; /* the same of all incremental snapshots of a disk */
    struct {
        char family_id[UUID_SIZE];
        int64_t created_us;
    } copied; /* of CopyStart: the snapshot that it is a copy of, which may be gone */
    struct operation *operation;
    uint64_t updating_until; /* loop_now; what clients are told until then, by a fault */
    UT_hash_handle hh;
};

struct snapshot *snapshot_find(const struct model *model, const char *key); /* or NULL */
enum provisioning snapshot_provisioning(const struct snapshot *snapshot); /* as clients are told */
const char *snapshot_location(const struct snapshot *snapshot);           /* its region */

/* Until when disks can be made from it although it is not complete. */
int64_t snapshot_instant_until_us(const struct snapshot *snapshot);
/* Whether disks can be made from it. */
bool snapshot_is_usable(const struct snapshot *snapshot);

/* PUT: creates or updates. The operation is in progress when it returns. */
struct refusal *snapshot_put(struct model *model, struct group *group, const char *name,
                             const json_t *body, struct snapshot **ret_snapshot,
                             struct operation **ret) __attribute__((warn_unused_result));
/* PATCH */
struct refusal *snapshot_patch(struct snapshot *snapshot, const json_t *change,
                               struct operation **ret) __attribute__((warn_unused_result));
struct refusal *snapshot_delete(struct snapshot *snapshot, struct operation **ret)
    __attribute__((warn_unused_result));

/* The disk grows: its snapshots that are not complete do not get any further. */
void snapshot_fail_pending(const struct disk *disk);
/* At once: it has no operation any more. Copies of it that are under way do not get any further. */
void snapshot_remove(struct snapshot *snapshot);

/* A snapshot with this body, in the tables; takes the body. For snapshot_put and for a restart.
 * NULL if the body is of no use; it is taken all the same. */
struct snapshot *snapshot_new(struct model *model, struct group *group, const char *name,
                              json_t *body, uint64_t sequence);
void snapshot_free(struct snapshot *snapshot);

/* The end of its operations; see operation.c. */
struct refusal *snapshot_operation_due(struct operation *operation);
void snapshot_operation_ended(struct operation *operation);
