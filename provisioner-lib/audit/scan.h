/* scan.h - reads from the cloud what the audit compares.
 *
 * One call for a machine, one for each page of disks: nothing here is urgent. What cannot be read
 * is an error, never a finding; only what may not be read is told of instead.
 */
#pragma once

#include "provisioner-lib/audit/cluster_source.h"
#include "provisioner-lib/audit/disk_scan.h"

/* `ret_found` false: the node has no machine, and `ret` is empty. */
struct err *scan_machine(struct task *self, struct cloud *cloud, const struct kube_object *node,
                         struct cloud_instance *ret, bool *ret_found)
    __attribute__((warn_unused_result));

/* All disks of the places where volumes have theirs, and the driver makes new ones. */
struct err *scan_disks(struct task *self, struct cloud *cloud, const struct cluster_source *source,
                       struct disk_scan *ret) __attribute__((warn_unused_result));
