/* vm_queue.h - changes to the data disks of virtual machines.
 *
 * One owner per VM (rule 5 of the design): its queue sends the first change at once and folds
 * whatever is asked for meanwhile into the next one, the more urgent first, so that twenty disks
 * cost two requests and nobody waits for more than the one that is in flight. Only when another
 * request is known to be on its way is a change held back for it, two seconds at most. A refusal
 * that could concern only some of a request's disks is tried again by halves, behind what is more
 * urgent. Of one shared disk, attaches to several VMs overlap, and so do detaches, where Azure lets
 * them (disk_hold.h). After each change the model is read, and a disk counts as attached or gone
 * only when the model says so.
 */
#pragma once

#include "provisioner-lib/azure/vm_cache.h"

/* One thing to be changed. */
enum vm_change_kind {
    VM_ATTACH,
    VM_DETACH,
    VM_REPAIR, /* send the model again, so that what a failed change left undone is done */
};

struct disk_hold;

struct vm_change {
    enum vm_change_kind kind;
    enum cloud_urgency urgency;
    const char *disk_id; /* not for VM_REPAIR */
    int lun;             /* of VM_ATTACH, as what follows */
    enum caching_mode caching;
    bool write_accelerator;
    const char *const *swap_out; /* disks that go in the same change, if they are there */
    size_t n_swap_out;
    bool (*precondition)(void *ctx, const struct cloud_instance *instance); /* as in cloud.h */
    void (*accepted)(void *ctx, bool yes);                                  /* likewise */
    void *ctx;
    struct cloud_instance *seen;       /* likewise */
    bool (*out_of_service)(void *ctx); /* of VM_DETACH, as what follows; likewise */
    bool *forced;
};

/* Somebody will ask for a change soon, or, with `coming` false, is about to or will not after all.
 */
void vm_announce(struct vm_cache *cache, const char *id, bool coming);

/* Ends those changes of the disk that wait and are no longer wanted. */
void vm_reconsider(struct vm_cache *cache, const char *disk_id);

/* Waits for changes of the disk that are under way, and lets none begin until it is released. The
 * hold is the caller's. */
struct err *vm_disk_hold(struct task *self, struct vm_cache *cache, const char *disk_id,
                         struct disk_hold **ret) __attribute__((warn_unused_result));
void vm_disk_release(struct vm_cache *cache, struct disk_hold *hold);

/* Returns when it is done and seen in the model. */
struct err *vm_change(struct task *self, struct vm_cache *cache, const char *id,
                      const struct vm_change *change) __attribute__((warn_unused_result));
