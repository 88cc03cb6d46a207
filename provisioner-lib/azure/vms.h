/* vms.h - virtual machines: what their models say, and changes to their data disks.
 *
 * One owner per VM (rule 5 of the design): its queue sends the first change at once and folds
 * whatever is asked for meanwhile into the next one, the more urgent first, so that twenty disks
 * cost two requests and nobody waits for more than the one that is in flight. Only when another
 * request is known to be on its way is a change held back for it, two seconds at most. A refusal
 * that could concern only some of a request's disks is tried again by halves, behind what is more
 * urgent. Changes of one shared disk on several VMs never overlap. After each change the model is
 * read, and a disk counts as attached or gone only when the model says so.
 */
#pragma once

#include "lib/rt/group.h"
#include "provisioner-lib/azure/arm_client.h"
#include "provisioner-lib/azure/skus.h"
#include "provisioner-lib/cloud.h"

struct vms;

/* The queues' tasks are members of `group`; free after that is closed. */
struct vms *vms_new(struct task_group *group, struct arm_client *arm, struct skus *skus);
void vms_free(struct vms *vms);

struct err *vm_get(struct task *self, struct vms *vms, const char *id, uint64_t max_age_ms,
                   enum cloud_urgency urgency, struct cloud_instance *ret)
    __attribute__((warn_unused_result));

void vm_forget(struct vms *vms, const char *id); /* the model; it is read anew when it is needed */

/* One thing to be changed. */
enum vm_change_kind {
    VM_ATTACH,
    VM_DETACH,
    VM_REPAIR, /* send the model again, so that what a failed change left undone is done */
};

struct vm_change {
    enum vm_change_kind kind;
    enum cloud_urgency urgency;
    const char *disk_id; /* not for VM_REPAIR */
    int lun;             /* of VM_ATTACH, as what follows */
    enum caching_mode caching;
    const char *const *in_exchange; /* disks that go in the same change, if they are there */
    size_t n_in_exchange;
    bool (*still_wanted)(void *ctx, const struct cloud_instance *instance); /* as in cloud.h */
    void *ctx;
};

/* Somebody will ask for a change soon, or, with `coming` false, is about to or will not after all.
 */
void vm_expect(struct vms *vms, const char *id, bool coming);

/* Ends those changes of the disk that wait and are no longer wanted. */
void vms_reconsider(struct vms *vms, const char *disk_id);

/* Returns when it is done and seen in the model. */
struct err *vm_change(struct task *self, struct vms *vms, const char *id,
                      const struct vm_change *change) __attribute__((warn_unused_result));
