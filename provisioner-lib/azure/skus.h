/* skus.h - what Azure sells in a region, as its SKU list says: how many data disks each size of VM
 * can have, and what each kind of disk can be.
 *
 * The list is asked for when it is first needed, several MiB on the wire, and again once a day;
 * what matters to a driver of disks is kept, in a file too, so that a start needs no answer. While
 * Azure does not give the list, the file's is used however old it is, and without one what is built
 * in (vm_sizes.h, disk_sku.h); which of them it is, is in the log, in METRIC_AZURE_SKU_SOURCE and
 * in a condition of each AzDriverNode. What Azure says when it refuses a disk counts more than all
 * of them, until this process ends.
 */
#pragma once

#include "lib/rt/group.h"
#include "provisioner-lib/azure/arm_client.h"
#include "provisioner-lib/cloud.h"

struct skus;

/* `cache_file` NULL or "": none. Reading the list anew is a task of `group`; free after that is
 * closed. */
struct skus *skus_new(struct task_group *group, struct arm_client *arm, const char *cache_file);
void skus_free(struct skus *skus);

/* NOT_FOUND for a size that nothing is known of. */
struct err *skus_max_data_disks(struct task *self, struct skus *skus, const char *vm_size,
                                int *ret_count, enum cloud_source *ret_source)
    __attribute__((warn_unused_result));
/* What Azure has said of the size when it refused a VM one more disk. */
void skus_note_refusal(struct skus *skus, const char *vm_size, int count);

struct err *skus_disk_limits(struct task *self, struct skus *skus, const char *kind,
                             int64_t size_gib, struct disk_limits *ret)
    __attribute__((warn_unused_result));
