/* model.h - Azure as it really is for one tenant: its subscriptions, their groups, disks, virtual
 * machines and the operations under way.
 *
 * A resource group belongs to a subscription, and everything else to a group, from which the ids of
 * resources follow. There is one subscription at first; others may be added.
 *
 * The model has no sockets and no clock of its own: time and chance come from the loop, so that it
 * runs in a process of its own or inside a simulation. What hangs below it (devices on a host) and
 * beside it (a file that keeps its state) is called through `struct model_devices` and `commit`.
 *
 * Members of the model's structs are for reading; they change only through functions of this
 * folder. Loop's thread, on the loop's own stack or a task's.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/base/list.h"
#include "lib/rt/loop.h"
#include "test/azsim/model/latency.h"
#include "test/azsim/model/settings.h"

struct disk;
struct faults;
struct operation;
struct refusal;
struct scale_set;
struct snapshot;
struct throttle;
struct vm;

enum {
    MODEL_MAX_SUBSCRIPTIONS = 10,
    MODEL_MAX_GROUPS = 1000, /* of all subscriptions */
    MODEL_MAX_VMS = 10000,
    MODEL_MAX_DISKS = 50000,
    MODEL_MAX_SNAPSHOTS = 50000,
};

/* What a host does when the model attaches and detaches. */
struct model_devices {
    /* An error makes the attach fail, with its text. */
    struct err *(*attach)(void *ctx, const struct vm *vm, unsigned lun, const struct disk *disk);
    void (*detach)(void *ctx, const struct vm *vm, unsigned lun, const struct disk *disk);
    void (*start)(void *ctx, const struct vm *vm);      /* it runs again */
    void (*resize)(void *ctx, const struct disk *disk); /* it has grown */
    /* The content of a disk or snapshot, by its unique id: is given to another one, goes. */
    struct err *(*copy)(void *ctx, const char *from, const char *to);
    void (*remove)(void *ctx, const char *unique_id);
};

struct subscription {
    char *id; /* a UUID, in the case in which it was given */
};

struct group {
    struct model *model;
    const struct subscription *subscription;
    char *name, *key;           /* the key is its id in lower case */
    json_t *body;               /* tags and managedBy, as clients set them */
    struct operation *deletion; /* under way; NULL: none */
    bool is_changed;            /* by clients: it differs from what was configured */
    bool gone;                  /* see group.h */
};

struct model {
    struct loop *loop;
    char *tenant_id, *location; /* the region of its VMs */
    struct latencies latencies;
    struct model_settings settings;
    struct throttle *throttle;
    struct faults *faults;

    struct subscription subscriptions[MODEL_MAX_SUBSCRIPTIONS];
    size_t n_subscriptions; /* at least one */
    struct group *groups[MODEL_MAX_GROUPS];
    size_t n_groups;
    struct disk *disks;           /* by key */
    struct snapshot *snapshots;   /* by key */
    struct vm *vms;               /* by key */
    struct vm *vms_by_host;       /* by the name that the VM itself goes by */
    struct scale_set *scale_sets; /* by key */
    struct operation *operations; /* by id */
    struct list ended_operations; /* the first to end first */
    size_t n_ended_operations;
    json_t *removed_vms; /* {name: true} of VMs that were deleted and not added again */
    uint64_t sequence;   /* of the last disk or VM: the order of lists */

    const struct model_devices *devices;
    void *devices_ctx;
    void (*commit)(void *ctx, json_t *changes);
    void *commit_ctx;
    json_t *changes;    /* of the change under way */
    uint64_t n_changes; /* of anything, ever */
};

struct model_config {
    struct loop *loop;
    const char *tenant_id, *subscription_id, *location; /* the first subscription's id */
    const struct model_devices *devices;                /* NULL: nothing below */
    void *devices_ctx;
    /* Called after each change with what is different, as snapshot.h describes; NULL: not wanted.
     */
    void (*commit)(void *ctx, json_t *changes);
    void *commit_ctx;
};

struct model *model_new(const struct model_config *config);
void model_free(struct model *model);
DEFINE_CLEANUP(struct model, model_free)

/* Any number of times for the same id; at most MODEL_MAX_SUBSCRIPTIONS, the first one included. */
const struct subscription *model_add_subscription(struct model *model, const char *id);
const struct subscription *model_find_subscription(const struct model *model,
                                                   const char *id); /* or NULL */

/* Groups of the first subscription, but for those that are gone. Adding: any number of times for
 * the same name. */
struct group *model_add_group(struct model *model, const char *name);
struct group *model_find_group(const struct model *model, const char *name); /* or NULL */
/* The same in any subscription of the model. */
struct group *model_add_group_to(struct model *model, const struct subscription *subscription,
                                 const char *name);
struct group *model_find_group_of(const struct model *model,
                                  const struct subscription *subscription,
                                  const char *name); /* or NULL */
/* The id of a resource of Microsoft.Compute in the group. */
char *group_resource_id(const struct group *group, const char *type, const char *name)
    __attribute__((warn_unused_result));

/* Whether a location is this one, as "East US" is eastus. */
bool model_location_is(const struct model *model, const char *location);

void model_set_removed(struct model *model, const char *vm_name, bool removed);

uint64_t model_draw(struct model *model, enum latency_kind kind);
int64_t model_now_us(const struct model *model);

/* Gives the content of one disk or snapshot to a new one; refused if the devices fail. */
struct refusal *model_copy_content(struct model *model, const char *from, const char *to)
    __attribute__((warn_unused_result));

/* Notes that the record of one thing is different, for commit. */
void model_changed_group(struct model *model, const struct group *group);
void model_changed_disk(struct model *model, const struct disk *disk);
void model_changed_snapshot(struct model *model, const struct snapshot *snapshot);
void model_changed_vm(struct model *model, const struct vm *vm);
void model_changed_scale_set(struct model *model, const struct scale_set *set);
void model_changed_operation(struct model *model, const struct operation *operation);
/* Notes that it is gone; `table` is as in snapshot.h. */
void model_gone(struct model *model, const char *table, const char *key);
/* The end of a change: everything noted since the last one goes to the commit function at once. */
void model_commit(struct model *model);
