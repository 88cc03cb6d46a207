/* disk.h - managed disks.
 *
 * A disk is its body (what clients sent, with Azure's defaults), what Azure keeps about it, and its
 * attachments. While a VM attaches it, it stays Unattached and may even be deleted, as in Azure.
 * Disks belong to the model.
 */
#pragma once

#include "lib/base/list.h"
#include "test/azsim/model/copy.h"
#include "test/azsim/model/disk_spec.h"
#include "test/azsim/model/model.h"
#include "test/azsim/model/operation.h"
#include "test/azsim/model/ownership.h"
#include "test/azsim/model/resource.h"

struct disk {
    struct model *model;
    struct group *group;
    char *key, *id, *name;
    uint64_t sequence;
    json_t *body;
    struct disk_spec spec; /* read from the body */
    enum provisioning provisioning;
    int64_t created_us;
    int64_t owned_us; /* when its owners last changed; 0: never had one */
    char unique_id[UUID_SIZE];

    struct list attachments; /* by_disk; see attachment.h */
    struct ownership shown;  /* what clients are told of them */
    struct operation *operation;
    uint64_t updating_until; /* loop_now; what clients are told until then, by a fault */
    int64_t access_until_us; /* see access.h; 0: none */
    struct copy copy;        /* of data from what it was made from */
    /* Of its last incremental snapshots and changes, the newest first. */
    int64_t snapshot_times[7], sku_times[2], performance_times[4];

    /* The last VM that began to attach it, and when (loop_now). */
    char *attaching_vm;
    uint64_t attaching_since;

    UT_hash_handle hh;
};

struct disk *disk_find(const struct model *model, const char *key); /* or NULL */
enum provisioning disk_provisioning(const struct disk *disk);       /* as clients are told */
enum disk_state disk_state(const struct disk *disk);
const char *disk_location(const struct disk *disk); /* its region */
const char *disk_state_name(enum disk_state state);
/* A VM has it with host caching, by its model. */
bool disk_is_cached(const struct disk *disk);
/* A VM that it is attached to; NULL if none. */
struct vm *disk_owner(const struct disk *disk);

/* PUT: creates or updates. The operation is in progress when it returns. */
struct refusal *disk_put(struct model *model, struct group *group, const char *name,
                         const json_t *body, struct disk **ret_disk, struct operation **ret)
    __attribute__((warn_unused_result));
/* PATCH */
struct refusal *disk_patch(struct disk *disk, const json_t *change, struct operation **ret)
    __attribute__((warn_unused_result));
struct refusal *disk_delete(struct disk *disk, struct operation **ret)
    __attribute__((warn_unused_result));

/* At once: no VM has it, and it has no operation any more. An update of a VM that was about to
 * attach it finds it gone. */
void disk_remove(struct disk *disk);

/* A disk with this body, in the tables; takes the body, which must be valid. For disk_put and for a
 * restart. */
struct disk *disk_new(struct model *model, struct group *group, const char *name, json_t *body,
                      uint64_t sequence);
void disk_free(struct disk *disk); /* out of the tables; its attachments must be gone */

/* The end of its operations; see operation.c. */
struct refusal *disk_operation_due(struct operation *operation);
void disk_operation_ended(struct operation *operation);
