/* compare.h - the audit: the records against Kubernetes, a VM's model, the disks, the snapshots.
 *
 * Several comparisons, because each needs something else to be read. Each thing is compared with
 * what belongs to it at one moment, whatever changes between two things. What is under way looks
 * like a finding too, so only what two scans have shown (finding_tracker.h) is one.
 */
#pragma once

#include "provisioner-lib/audit/cluster_source.h"
#include "provisioner-lib/audit/disk_scan.h"
#include "provisioner-lib/audit/finding.h"
#include "provisioner-lib/audit/snapshot_contents.h"
#include "provisioner-lib/audit/snapshot_scan.h"

/* Custom resources, VolumeAttachments, PersistentVolumes and Nodes; no cloud. An error is the
 * source's own: CANCELED. */
struct err *compare_records(struct task *self, const struct cluster_source *source,
                            struct findings *ret) __attribute__((warn_unused_result));

/* The machine of a node; NULL: it has none. A machine that somebody changes at this moment shows
 * nothing. Does not yield. */
void compare_machine(const struct cluster_source *source, struct kube_object *node,
                     const struct cloud_instance *machine, struct findings *ret);

/* AzSnapshots against VolumeSnapshotContents; no cloud. Nothing, if these could not be read. */
struct err *compare_contents(struct task *self, const struct cluster_source *source,
                             const struct snapshot_contents *contents, struct findings *ret)
    __attribute__((warn_unused_result));
/* The snapshots that the cloud has, against both. */
struct err *compare_snapshots(struct task *self, const struct cluster_source *source,
                              const struct snapshot_scan *scan,
                              const struct snapshot_contents *contents, struct findings *ret)
    __attribute__((warn_unused_result));

struct err *compare_disks(struct task *self, const struct cluster_source *source,
                          const struct disk_scan *scan, struct findings *ret)
    __attribute__((warn_unused_result));
