/* vm.h - virtual machines, those of scale sets too.
 *
 * A VM has a model, which clients read and change (`body` and the wanted `data_disks`), and
 * attachments, which are what is. A change of the model is accepted at once, and an operation makes
 * the attachments follow when it ends. One operation runs at a time: a newer change of the model
 * ends the older operation with OperationPreempted and inherits its work; attachDetachDataDisks is
 * refused while one runs (model/settings.h changes that). What an operation could not do stays
 * wanted, the VM is then Failed, and the next change of any kind tries again. VMs belong to the
 * model.
 */
#pragma once

#include "test/azsim/model/data_disks.h"
#include "test/azsim/model/operation.h"
#include "test/azsim/model/resource.h"
#include "test/azsim/model/vm_spec.h"

/* Hibernated: deallocated as well, and goes on with what it had in memory when it is started. */
enum power { POWER_RUNNING, POWER_STOPPED, POWER_DEALLOCATED, POWER_HIBERNATED };

struct vm {
    struct model *model;
    struct group *group;
    struct scale_set *scale_set; /* NULL: none */
    char *key, *id;
    char *name; /* ARM's: "pool_3" for instance 3 of pool, else spec.resource_name or spec.name */
    char *host_key; /* spec.name in lower case */
    uint64_t sequence;
    struct vm_spec spec;
    const struct vm_size *size; /* as the model says now */
    json_t *body;               /* without data disks */
    struct data_disks data_disks;
    struct list attachments; /* by_vm; see attachment.h */
    enum power power;
    bool is_generalized; /* it starts no more */
    enum provisioning provisioning;
    char *failure; /* code of what the last operation failed with; NULL: it did not */
    int64_t created_us, updated_us;
    unsigned etag;
    char vm_id[UUID_SIZE], client_id[UUID_SIZE]; /* client_id: of its managed identity */
    struct operation *operation;
    uint64_t updating_until; /* loop_now; what clients are told until then, by a fault */
    UT_hash_handle hh, by_host;
};

struct vm *vm_find(const struct model *model, const char *key); /* or NULL */
/* By spec.name, in any group; NULL if there is none. */
struct vm *vm_find_by_name(const struct model *model, const char *name);
enum provisioning vm_provisioning(const struct vm *vm); /* as clients are told */
const char *power_name(enum power power);               /* "running", "hibernated" */
/* As an instance view says it; also "starting", "stopping", "deallocating". What is hibernated is
 * "deallocated". */
const char *vm_power_name(const struct vm *vm);
bool vm_takes_ultra_disks(const struct vm *vm);
bool power_from_name(const char *name, enum power *ret);

/* The group that a spec asks for. INVALID if there is none of that name. */
struct err *vm_group_for(const struct model *model, const struct vm_spec *spec, struct group **ret)
    __attribute__((warn_unused_result));
/* A new VM, running; takes the spec. EXISTS if there is one of that host name in any group, or of
 * that name to ARM in this one. */
struct err *vm_add(struct model *model, struct group *group, struct vm_spec *spec, struct vm **ret)
    __attribute__((warn_unused_result));
/* A VM in the tables and nothing more; takes the spec. For vm_add and for a restart. */
struct vm *vm_new(struct model *model, struct group *group, struct scale_set *scale_set,
                  struct vm_spec *spec, uint64_t sequence);
bool vm_is_instance(const struct vm *vm); /* of a uniform scale set */
void vm_free(struct vm *vm);              /* out of the tables; its devices are left alone */

/* PUT or PATCH of the model. `ret` is NULL if there was nothing to do. */
struct refusal *vm_patch(struct vm *vm, const json_t *change, struct operation **ret)
    __attribute__((warn_unused_result));
/* attachDetachDataDisks */
struct refusal *vm_attach_detach(struct vm *vm, const json_t *body, struct operation **ret)
    __attribute__((warn_unused_result));
/* Start, power off, deallocate, something in the guest, or no more than to apply the model again.
 */
struct refusal *vm_act(struct vm *vm, enum operation_kind kind, struct operation **ret)
    __attribute__((warn_unused_result));
/* It becomes a template and starts no more; not while it runs. */
struct refusal *vm_generalize(struct vm *vm) __attribute__((warn_unused_result));
/* Disks are detached when the operation ends, and the VM is gone. */
struct operation *vm_delete(struct vm *vm);
/* At once: it has no operation any more. */
void vm_remove(struct vm *vm);
/* At once, as when a host's power is cut. */
void vm_set_power(struct vm *vm, enum power power);

/* The end of its operations; see operation.c. */
struct refusal *vm_operation_due(struct operation *operation);
void vm_operation_ended(struct operation *operation);
