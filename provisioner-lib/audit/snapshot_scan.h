/* snapshot_scan.h - what the cloud has said of snapshots, for the audit to compare.
 */
#pragma once

#include "provisioner-lib/audit/cluster_source.h"
#include "provisioner-lib/cloud.h"

struct snapshot_scan {
    struct cloud_snapshots snapshots; /* all of every place where there may be any; by id */

    struct unlisted_snapshots {
        char *id; /* one in the place that may not be listed, which stands for it */
        char *reason;
    } * unlisted;
    size_t n_unlisted;
};

/* All snapshots of the places where AzSnapshots have theirs, and where the driver makes those of
 * the volumes that there are. One call for each page; what cannot be read is an error. */
struct err *scan_snapshots(struct task *self, struct cloud *cloud,
                           const struct cluster_source *source, struct snapshot_scan *ret)
    __attribute__((warn_unused_result));
void snapshot_scan_fini(struct snapshot_scan *scan);

/* NULL if it was not listed; ids are alike whatever their case. */
const struct cloud_snapshot *snapshot_scan_find(const struct snapshot_scan *scan, const char *id);
/* The reason why it may not be listed; NULL if it may. */
const char *snapshot_scan_unlisted(const struct snapshot_scan *scan, const char *id);
