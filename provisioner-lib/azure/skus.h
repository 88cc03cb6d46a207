/* skus.h - how many data disks each size of VM can have, as the region's SKU list says.
 *
 * The list is asked for when it is first needed, several MiB on the wire, and again once a day; one
 * number per size is kept, in a file too, so that a start needs no answer. While Azure does not
 * give the list, the file's is used however old it is, and without one what is built in
 * (vm_sizes.h); which of them it is, is in the log and in METRIC_AZURE_SKU_SOURCE.
 */
#pragma once

#include "lib/rt/group.h"
#include "provisioner-lib/azure/arm_client.h"

struct skus;

/* `cache_file` NULL or "": none. Reading the list anew is a task of `group`; free after that is
 * closed. */
struct skus *skus_new(struct task_group *group, struct arm_client *arm, const char *cache_file);
void skus_free(struct skus *skus);

/* NOT_FOUND for a size that nothing is known of. */
struct err *skus_max_data_disks(struct task *self, struct skus *skus, const char *vm_size,
                                int *ret_count) __attribute__((warn_unused_result));
