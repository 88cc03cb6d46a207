/* cloud.h - what the controller asks of a cloud: the half of the provisioner library that the
 * machine itself cannot do. (The other half is provisioner-lib/host.)
 *
 * A cloud implements this table once; the controller knows no other name of it. Every call yields,
 * may be repeated after any failure, and is either done or leaves what a repetition finishes. An
 * error's code is the cloud's own word for it.
 *
 * Strings in results are owned by the result and released by its _fini function.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/rt/task.h"
#include "provisioner-lib/disk_mark.h"
#include "provisioner-lib/parameters.h"
#include "provisioner-lib/snapshot_parameters.h"

struct cloud;

/* A disk to be made. */
struct cloud_disk_spec {
    const char *name;
    int64_t size_gib;
    const char *zone;      /* "eastus-1"; "" or NULL: none */
    const char *source_id; /* of the disk or snapshot that it is to be a copy of; NULL: of none */
    const struct volume_parameters *parameters;
    struct disk_creator creator; /* who makes it, and alone may take it for what it made before */
};

/* The PersistentVolume that a disk of this name must be for; NULL: the name alone says that. */
static inline const char *cloud_disk_spec_pv(const struct cloud_disk_spec *spec)
{
    return spec->parameters->disk_name ? spec->parameters->pv_name : NULL;
}

struct cloud_disk {
    char *id;
    char *unique_id; /* another one, if a disk is made again under the same id; "" if not told */
    int64_t size_bytes;
    bool changing;             /* a change of the disk itself is under way */
    int64_t made_us, owned_us; /* when it was made, and last got or lost a VM; 0: not told */
    int max_shares;
    char *sku; /* its kind, by the cloud's own name, which may be none of DISK_SKU_NAMES */
    int64_t iops, mbps;
    int percent;     /* of what it was copied or converted from that it has by now; 100 otherwise */
    char *region;    /* "eastus" */
    char *zone;      /* "eastus-1", "" if it is in none */
    char *source_id; /* of the disk or snapshot that it is a copy of; "" if of none */
    char **instances; /* ids of those that it is attached to */
    size_t n_instances;
    struct disk_mark mark; /* who has made it */
};

struct cloud_disks {
    struct cloud_disk *items;
    size_t n;
};

/* A snapshot of a disk, to be made: in the disk's region, or copied from there to another one. */
struct cloud_snapshot_spec {
    const char *name;
    const char *disk_id;
    const struct snapshot_parameters *parameters; /* to whose location it is copied */
    struct disk_creator creator;
    /* Of a copy: the snapshot that it is copied from, and when that was taken. NULL: it is none. */
    const char *source_id;
    int64_t taken_us;
};

struct cloud_snapshot {
    char *id;
    char *disk_id;      /* that it is of, "" if not told; the disk may be gone */
    char *region;       /* "eastus" */
    bool is_copy;       /* of another snapshot, which may be gone */
    bool made;          /* its creation has ended, and has not failed */
    int64_t size_bytes; /* of the disk */
    int64_t made_us;    /* 0: not told */
    int64_t taken_us;   /* the time that its content is of; of a copy, before it was made */
    int percent;        /* of the data that the cloud has copied */
    bool ready;         /* disks can be made from it */
    char *failure;      /* why copying its data has failed; NULL if it has not */
    struct disk_mark mark;
};

struct cloud_snapshots {
    struct cloud_snapshot *items;
    size_t n;
};

/* A place for a disk on an instance, as the cloud's model of it has it. */
struct cloud_slot {
    const char *disk_id;
    int lun;
    bool leaving;  /* a detach has begun */
    bool attached; /* by the instance view, which is read when a change of the machine has failed */
};

enum cloud_instance_state {
    CLOUD_INSTANCE_SETTLED, /* the model is what is */
    CLOUD_INSTANCE_CHANGING,
    CLOUD_INSTANCE_FAILED, /* the last change was not carried out, though the model has it */
};

/* Where a number of the cloud's limits is from. */
enum cloud_source {
    CLOUD_TOLD,     /* by the cloud, of late */
    CLOUD_KEPT,     /* by the cloud, when it was last asked with success */
    CLOUD_REFUSED,  /* by the cloud, when it refused more */
    CLOUD_BUILT_IN, /* not by the cloud: as far as was known when this was made */
    CLOUD_UNKNOWN,  /* by nobody: it is the most that the numbers of slots allow */
};

/* Whether it may be wrong, and decides nothing about a disk that somebody waits for. */
static inline bool cloud_source_is_guess(enum cloud_source source)
{
    return source == CLOUD_BUILT_IN || source == CLOUD_UNKNOWN;
}

enum { CLOUD_MOST_SLOTS = 64 }; /* of any machine: LUNs 0 to 63 */

struct cloud_instance_memory;

/* A node's machine. */
struct cloud_instance {
    const char *id;
    const char *host; /* the name by which the machine knows itself; "" if the cloud does not say */
    const char *zone; /* "eastus-1", "" without zones */
    const char *size; /* by the cloud's name for its kind; NULL if it has none */
    enum cloud_instance_state state;
    int max_disks;
    enum cloud_source max_disks_from;
    const struct cloud_slot *slots;
    size_t n_slots;
    uint64_t cooling_luns; /* bit n: LUN n became free so lately that the machine's kernel may still
                              have a device there */
    struct cloud_instance_memory *memory; /* of texts and slots, for all that share them; NULL if
                                             they are of who made this */
};

enum cloud_power {
    CLOUD_MAY_RUN, /* or is about to, or is to go on */
    CLOUD_IS_OFF,  /* surely: what it had in memory is gone */
    CLOUD_IS_GONE, /* there is no machine of that id */
};

/* In which order requests are sent when they cannot all go at once. */
enum cloud_urgency {
    CLOUD_FOR_PRIMARY, /* somebody waits to use the disk */
    CLOUD_IN_THE_WAY,  /* a detach for which such a one waits */
    CLOUD_FOR_REPLICA,
    CLOUD_COLLECTION,
    CLOUD_AUDIT, /* a look that nobody waits for */
    CLOUD_URGENCIES,
};

struct cloud_attach {
    const char *instance_id, *disk_id;
    int lun;
    enum caching_mode caching;
    bool write_accelerator;
    enum cloud_urgency urgency;
    /* Disks that leave the machine in the same change, to make room; those that it does not have
     * are no matter. */
    const char *const *swap_out;
    size_t n_swap_out;
    /* Asked while it waits for its turn, which may be minutes: if it is not, nothing is attached,
     * and CONFLICT says so. `instance` is the machine's model as far as it is known, or NULL. Must
     * not yield; NULL: it is wanted in any case. */
    bool (*precondition)(void *ctx, const struct cloud_instance *instance);
    /* Told when the cloud has begun with it: from now on it does not wait for others. With `yes`
     * false, that has come to nothing, and the cloud is asked again. NULL: it is no matter. */
    void (*accepted)(void *ctx, bool yes);
    void *ctx;
    struct cloud_instance *seen; /* the model that has it, for cloud_instance_fini; or NULL */
};

struct cloud_detach {
    const char *instance_id, *disk_id;
    enum cloud_urgency urgency;
    /* Somebody has made sure that nothing on the machine writes to the disk any more; whether
     * anything there answers is another matter: what an earlier detach has not brought about is
     * done without it. Asked when it is the disk's turn, and while the cloud is at it; does not
     * yield. NULL: nobody has. */
    bool (*out_of_service)(void *ctx);
    void *ctx;
    bool *forced; /* set to whether it was done so; or NULL */
};

/* What a disk is to be. */
struct cloud_disk_change {
    int64_t size_gib;   /* at least; 0: as it is */
    const char *sku;    /* one of DISK_SKU_NAMES; NULL: as it is */
    int64_t iops, mbps; /* 0: as they are */
    /* Asked when nothing but its request is left to be done, with the disk as it is by then: an
     * error ends it. Must not yield; NULL: it is wanted in any case. */
    struct err *(*check)(void *ctx, const struct cloud_disk *disk);
    /* Records what the disk is then. */
    struct err *(*record)(struct task *self, void *ctx, const struct cloud_disk *disk);
    void *ctx;
};

struct cloud_ops {
    /* The id of a disk that is to be made, whether it exists or not. */
    struct err *(*disk_id)(struct cloud *cloud, const struct cloud_disk_spec *spec, char **ret_id);
    /* The disk, made now, or before for this very volume (disk_is_for_volume()). EXISTS if there is
     * one of that name that differs, or that somebody else has made. */
    struct err *(*disk_create)(struct task *self, struct cloud *cloud,
                               const struct cloud_disk_spec *spec, struct cloud_disk *ret);
    /* The region that a disk with these parameters is made in. */
    const char *(*disk_region)(struct cloud *cloud, const struct volume_parameters *parameters);
    /* What a disk of this kind and size can be, as far as is known. */
    struct err *(*disk_limits)(struct task *self, struct cloud *cloud,
                               const struct volume_parameters *parameters, int64_t size_gib,
                               struct disk_limits *ret);
    struct err *(*disk_get)(struct task *self, struct cloud *cloud, const char *disk_id,
                            struct cloud_disk *ret);
    /* All disks in the place where this one is or would be, added to `ret`; a look of CLOUD_AUDIT.
     */
    struct err *(*disk_list)(struct task *self, struct cloud *cloud, const char *disk_id,
                             struct cloud_disks *ret);
    /* Makes the disk what it is to be, unless it is so already, and has it recorded. Attaches and
     * detaches of the disk that are under way are waited for; further ones wait until it is
     * recorded, for how a disk is attached follows from its size and kind. PRECONDITION if it
     * cannot be changed where it is attached. A disk that is being converted is what it is to be,
     * with a `percent` below 100; one that has such a percentage does not grow, and is recorded as
     * it is. */
    struct err *(*disk_change)(struct task *self, struct cloud *cloud, const char *disk_id,
                               const struct cloud_disk_change *change);
    /* Success if it is gone already; PRECONDITION while it is attached. */
    struct err *(*disk_delete)(struct task *self, struct cloud *cloud, const char *disk_id);

    /* The id of a snapshot that is to be made, whether it exists or not. */
    struct err *(*snapshot_id)(struct cloud *cloud, const struct cloud_snapshot_spec *spec,
                               char **ret_id);
    /* The snapshot, made now, or before by the same creator of the same disk; it may have to be
     * copied yet. EXISTS if there is another one of that name; NOT_FOUND if there is no such disk;
     * BUSY if it is to be in another region, into which somebody has to copy it. */
    struct err *(*snapshot_create)(struct task *self, struct cloud *cloud,
                                   const struct cloud_snapshot_spec *spec,
                                   struct cloud_snapshot *ret);
    /* The same of a copy in another region, of a snapshot whose own data is there; NOT_FOUND if
     * that is gone before the copy exists. It must stay until the copy is ready. */
    struct err *(*snapshot_copy)(struct task *self, struct cloud *cloud,
                                 const struct cloud_snapshot_spec *spec,
                                 struct cloud_snapshot *ret);
    struct err *(*snapshot_get)(struct task *self, struct cloud *cloud, const char *snapshot_id,
                                struct cloud_snapshot *ret);
    /* All snapshots in the place where this one is or would be, added to `ret`. */
    struct err *(*snapshot_list)(struct task *self, struct cloud *cloud, const char *snapshot_id,
                                 struct cloud_snapshots *ret);
    /* Success if it is gone already. */
    struct err *(*snapshot_delete)(struct task *self, struct cloud *cloud, const char *snapshot_id);

    /* The id of a node's machine; `provider_id` is Node.spec.providerID, NULL if unknown. */
    struct err *(*instance_id)(struct cloud *cloud, const char *node, const char *provider_id,
                               char **ret_id);
    /* The machine's model, not older than `max_age_ms` nor than the last change through here. If it
     * has to be read, that is as urgent as the most urgent of those who wait for it. */
    struct err *(*instance_get)(struct task *self, struct cloud *cloud, const char *instance_id,
                                uint64_t max_age_ms, enum cloud_urgency urgency,
                                struct cloud_instance *ret);
    /* The machine may be another one by now: what is kept of its model counts no more. */
    void (*instance_forget)(struct cloud *cloud, const char *instance_id);
    /* The machine's model as it is now; a look of CLOUD_AUDIT, which others do not wait for. */
    struct err *(*instance_look)(struct task *self, struct cloud *cloud, const char *instance_id,
                                 struct cloud_instance *ret);

    /* Whether the machine runs, asked anew each time. */
    struct err *(*instance_power)(struct task *self, struct cloud *cloud, const char *instance_id,
                                  enum cloud_power *ret);

    /* An attach or detach of the machine is on its way; with `coming` false, it is about to be
     * asked for, or is not asked for after all. What is asked for already waits for it, for a
     * moment, so that both can be one change. */
    void (*instance_announce)(struct cloud *cloud, const char *instance_id, bool coming);
    /* Return when it is done and seen in the model. Requests for one machine are gathered into few
     * changes; of one disk, only attaches to several machines overlap, or only
     * detaches. */
    struct err *(*disk_attach)(struct task *self, struct cloud *cloud,
                               const struct cloud_attach *attach);
    /* Attaches of the disk may no longer be wanted: those that wait for their turn are asked. */
    void (*reconsider)(struct cloud *cloud, const char *disk_id);
    struct err *(*disk_detach)(struct task *self, struct cloud *cloud,
                               const struct cloud_detach *detach);
    /* Carries out what a failed change left undone. */
    struct err *(*instance_repair)(struct task *self, struct cloud *cloud, const char *instance_id,
                                   enum cloud_urgency urgency);
};

/* An implementation's struct begins with this. */
struct cloud {
    const struct cloud_ops *ops;
};

/* EXISTS if the snapshot, which has the name of the one that is to be made, is of another disk or
 * made by somebody else. Pure. */
struct err *cloud_snapshot_check_own(const struct cloud_snapshot *snapshot,
                                     const struct cloud_snapshot_spec *spec)
    __attribute__((warn_unused_result));
/* The same if it is in another region than it is to be, too. */
struct err *cloud_snapshot_check_same(const struct cloud_snapshot *snapshot,
                                      const struct cloud_snapshot_spec *spec)
    __attribute__((warn_unused_result));

void cloud_disk_fini(struct cloud_disk *disk);
void cloud_disks_fini(struct cloud_disks *disks);
void cloud_snapshot_fini(struct cloud_snapshot *snapshot);
void cloud_snapshots_fini(struct cloud_snapshots *snapshots);

/* The same, its texts and slots copied into memory of their own. */
struct cloud_instance cloud_instance_copy(const struct cloud_instance *instance);
/* The same, with the memory of `instance`, which lives as long as any that shares it. */
struct cloud_instance cloud_instance_share(const struct cloud_instance *instance);
void cloud_instance_fini(struct cloud_instance *instance);
