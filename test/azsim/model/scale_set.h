/* scale_set.h - virtual machine scale sets.
 *
 * A scale set comes into being with its first VM and stays when its VMs go. In a uniform one VMs
 * are instances with a number, known to ARM by an id below the scale set's and by the name
 * "pool_3"; in a flexible one they are VMs like others that refer to it. Clients change its model,
 * which changes no instance, take instances away, but do not add any, and let many instances do the
 * same thing at once. Scale sets belong to the model.
 */
#pragma once

#include "lib/rt/random.h"
#include "test/azsim/model/model.h"
#include "test/azsim/model/operation.h"
#include "test/azsim/model/vm_spec.h"

struct scale_set {
    struct model *model;
    struct group *group;
    char *key, *id, *name;
    bool uniform;
    const struct vm_size *size; /* of its first VM */
    uint64_t sequence;
    int64_t created_us;
    unsigned capacity; /* VMs that it has */
    unsigned etag;
    char unique_id[UUID_SIZE];
    json_t *body; /* as clients sent it; empty at first */
    bool is_updating, is_deleting;
    struct operation *operation; /* of the set itself; NULL: none */
    UT_hash_handle hh;
};

struct scale_set *scale_set_find(const struct model *model, const char *key); /* or NULL */
/* The one that a VM with this spec goes to, made if it is missing; NULL for a spec without one.
 * INVALID if it has VMs of the other kind. */
struct err *scale_set_for(struct model *model, struct group *group, const struct vm_spec *spec,
                          struct scale_set **ret) __attribute__((warn_unused_result));
/* Notes that it has a VM more or less. */
void scale_set_changed(struct scale_set *set);

/* PUT or PATCH of its model. */
struct refusal *scale_set_patch(struct scale_set *set, const json_t *change, struct operation **ret)
    __attribute__((warn_unused_result));
/* With all its VMs. */
struct operation *scale_set_delete(struct scale_set *set);
/* The same for the instances that `ids` lists, or for all; OPERATION_VM_DELETE, too. The operation
 * ends with the last of theirs. */
struct refusal *scale_set_act(struct scale_set *set, enum operation_kind kind, const json_t *ids,
                              struct operation **ret) __attribute__((warn_unused_result));

/* The end of its operations; see operation.c. */
struct refusal *scale_set_operation_due(struct operation *operation);
void scale_set_operation_ended(struct operation *operation);

/* A scale set in the tables and nothing more. For scale_set_for and for a restart. */
struct scale_set *scale_set_new(struct model *model, struct group *group, const char *name,
                                const struct vm_size *size, uint64_t sequence);
void scale_set_free(struct scale_set *set);
