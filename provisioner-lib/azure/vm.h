/* vm.h - one VM as its owner keeps it; for vm_cache.c, which reads its model, and for vm_batch.c
 * and vm_queue.c, which change it.
 *
 * Scale sets never give an instance the number of one that is gone, so VMs are forgotten: at once
 * when Azure says that there is none, after half an hour when nobody asks for it any more.
 */
#pragma once

#include "lib/base/hash.h"
#include "provisioner-lib/azure/vm_cache.h"
#include "provisioner-lib/azure/vm_update.h"

enum { VM_LUNS = 64 };

struct vm {
    char *key; /* the id in lower case */
    char *id;  /* as it was first given */
    struct vm_cache *cache;

    struct list pending;     /* requests that no change carries yet, the most urgent first */
    struct list holds;       /* of struct disk_hold, on the disks of the change that is under way */
    bool working;            /* its task runs */
    uint64_t free_since;     /* when its last change had ended */
    bool under_way;          /* a change of ours */
    uint64_t busy_since;     /* with a change of somebody else; 0: with none */
    bool outlasted;          /* what it is busy with is not waited for any longer */
    unsigned overruns;       /* changes of ours that did not end; vm_settle.h */
    uint64_t overrun_at;     /* the last of them */
    uint64_t unforced_until; /* nothing is detached by force: the last time came to nothing */
    unsigned expected;       /* requests that are on their way */
    unsigned users;          /* tasks that are inside of a call for it */
    uint64_t used_at;        /* by the last of them */
    struct waiters finished;

    struct cloud_instance model;
    bool known;        /* the model was read, and nothing has happened since that it may lack */
    bool gone;         /* when it was to be read last, there was no such VM */
    uint64_t known_at; /* when */
    struct arm_request *reading; /* NULL: nobody reads it */
    bool overtaken;              /* something has happened since that began */
    struct arm_request *turn;    /* that its next change waits for; NULL: none */
    struct waiters read;

    uint64_t freed;             /* bit n: LUN n has been seen to become free */
    uint64_t freed_at[VM_LUNS]; /* then this is when */
    UT_hash_handle hh;          /* by the key */
};

struct vm_cache {
    struct task_group *group;
    struct loop *loop;
    struct arm_client *arm;
    struct skus *skus;
    enum vm_update_way way; /* that works in this cloud, as far as is known */
    struct vm *vms;
    uint64_t swept;          /* when those that nobody used any more were last dropped */
    struct held_disk *held;  /* disk_hold.h */
    uint64_t overlaps_after; /* no disk is attached to several VMs at once until then */
    struct waiters changed;  /* a disk is less held, or something more is asked for */
};

/* The VM, added if it is not kept yet. It stays until vm_leave, over yields too. */
struct vm *vm_enter(struct vm_cache *cache, const char *id);
void vm_leave(struct vm *vm);
/* Frees a VM that Azure does not have any more, unless somebody uses it. */
void vm_forget_if_gone(struct vm *vm);

/* Reads the model unless it is known and not older. A caller that joins a read under way raises the
 * read's urgency to its own. */
struct err *vm_refresh(struct task *self, struct vm *vm, uint64_t max_age_ms,
                       enum cloud_urgency urgency) __attribute__((warn_unused_result));
/* Something happens that the model, and an answer that is on its way, may lack. */
void vm_outdate(struct vm *vm);
/* What it is busy with is not waited for any longer: the model counts as failed. */
void vm_give_up(struct vm *vm);
/* That has ended, or another change has taken its place. */
void vm_note_free(struct vm *vm);
/* Somebody with this urgency waits for what the VM's owner asks of Azure at the moment. */
void vm_hurry(struct vm *vm, enum cloud_urgency urgency);
