/* disk_hold.h - the disks that changes under way concern; for vm_batch.c, vm_queue.c and azure.c.
 *
 * A change holds its disks until it has ended, and whatever else concerns one of them waits. But
 * for this: a shared disk may be attached to several VMs at once, or detached from several, each
 * from a moment after Azure has accepted the one before. Should Azure refuse that, they come one
 * after the other for ten minutes.
 */
#pragma once

#include "provisioner-lib/azure/vm.h"
#include "provisioner-lib/azure/vm_queue.h"

/* Its strings and lists are disk_hold.c's. */
struct disk_hold {
    struct list of_disk, of_vm; /* in their lists; the latter only if it has a VM */
    struct held_disk *disk;
    const struct vm *vm;      /* whose change it is; NULL: the disk itself is changed */
    enum vm_change_kind kind; /* VM_ATTACH or VM_DETACH; of the disk itself none */
    uint64_t opens_at;        /* from then on others of this kind may begin */
};

/* Disks are their ids in lower case. A second hold of the VM on one is none. */
void disk_hold_take(struct vm *vm, const char *disk, enum vm_change_kind kind);
/* Azure has accepted the VM's change. */
void disk_hold_open_all(struct vm *vm);
/* Ends all holds of the VM, and wakes whoever waits for its disks. */
void disk_hold_release_all(struct vm *vm);

/* Until when the VM has to wait for other holders of the disk; 0: they do not keep it from such a
 * change, TIMER_NEVER: until one ends. */
uint64_t disk_hold_until(const struct vm *vm, const char *disk, enum vm_change_kind kind);
/* Another VM has a hold on the disk. */
bool disk_hold_is_shared(const struct vm *vm, const char *disk);
/* Azure has refused what overlapped with the change of another VM. */
void disk_hold_refused(struct vm_cache *cache);
