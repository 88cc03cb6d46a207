/* vm_update.h - one change of a VM's data disks, sent as the cloud at hand takes it.
 *
 * Where there is the action attachDetachDataDisks, it names only the disks that come and go. Other
 * clouds take the VM's list of disks as a whole: it is read and sent back changed, on the condition
 * that nobody has changed it meanwhile. The first refusal for want of a way is remembered. An
 * identity that may not use the action takes the list, too, each time.
 *
 * While an operation of the VM is under way, Azure refuses the action; a list takes its place.
 */
#pragma once

#include "provisioner-lib/azure/arm_client.h"
#include "provisioner-lib/cloud.h"

struct vm_attach {
    const char *disk_id;
    int lun;
    enum caching_mode caching;
    bool write_accelerator;
};

struct vm_detach {
    const char *disk_id;
    bool forced; /* whatever the machine is at; not where Azure takes no more than a list */
};

/* Without any disk: the model as it is, so that what a failed change left undone is done. */
struct vm_update {
    const struct vm_attach *attach;
    size_t n_attach;
    const struct vm_detach *detach;
    size_t n_detach;
    enum cloud_urgency urgency;
    uint64_t (*most_ms)(void *ctx); /* that its operation is waited for, as in arm_operation.h */
    void (*accepted)(void *ctx);    /* Azure has begun with it; NULL: no matter */
    void *ctx;
};

/* In the order in which they are tried. */
enum vm_update_way {
    VM_UPDATE_BY_ACTION,
    VM_UPDATE_BY_LIST,
    VM_UPDATE_BY_SHORT_LIST, /* on clouds that do not know toBeDetached: what is left out goes */
};

/* Returns when the operation has ended. */
struct err *vm_update_send(struct task *self, struct arm_client *arm, const char *vm_id,
                           const struct vm_update *update, enum vm_update_way *io_way)
    __attribute__((warn_unused_result));
