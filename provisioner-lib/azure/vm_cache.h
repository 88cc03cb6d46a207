/* vm_cache.h - virtual machines as Azure's answers describe them: each is kept, with its model as
 * it was last read, while it is used.
 *
 * Changes to a VM's disks are vm_queue.h's. Loop's thread.
 */
#pragma once

#include "lib/rt/group.h"
#include "provisioner-lib/azure/arm_client.h"
#include "provisioner-lib/azure/skus.h"
#include "provisioner-lib/cloud.h"

struct vm_cache;

/* The queues' tasks are members of `group`; free after that is closed. */
struct vm_cache *vm_cache_new(struct task_group *group, struct arm_client *arm, struct skus *skus);
void vm_cache_free(struct vm_cache *cache);

/* The model, not older than `max_age_ms` nor than the last change through here. */
struct err *vm_get(struct task *self, struct vm_cache *cache, const char *id, uint64_t max_age_ms,
                   enum cloud_urgency urgency, struct cloud_instance *ret)
    __attribute__((warn_unused_result));

/* Drops the model; it is read anew when it is needed. */
void vm_forget(struct vm_cache *cache, const char *id);
