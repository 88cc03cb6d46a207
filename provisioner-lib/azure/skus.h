/* skus.h - how many data disks each size of VM can have, as the region's SKU list says.
 *
 * The list is asked for when it is first needed and kept for the life of the process; several MiB
 * on the wire, one number per size here.
 */
#pragma once

#include "provisioner-lib/azure/arm_client.h"

struct skus;

struct skus *skus_new(struct arm_client *arm);
void skus_free(struct skus *skus);

/* NOT_FOUND for a size that the region does not list. */
struct err *skus_max_data_disks(struct task *self, struct skus *skus, const char *vm_size,
                                int *ret_count) __attribute__((warn_unused_result));
