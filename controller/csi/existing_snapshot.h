/* existing_snapshot.h - the snapshot that a call names, on record or only in the cloud.
 */
#pragma once

#include "controller/csi/service.h"

/* The AzSnapshot with this id, or whose snapshot is to have it, referenced; asks the API server if
 * the cache does not have it. NULL if there is none. UNAVAILABLE while nothing is known of
 * AzSnapshots. */
struct err *csi_find_snapshot(struct task *self, struct controller *controller,
                              const char *snapshot_id, struct kube_object **ret)
    __attribute__((warn_unused_result));
/* UNAVAILABLE while nothing is known of AzSnapshots, because they have not been read or are not
 * defined in this cluster. */
struct err *csi_check_snapshots(const struct controller *controller)
    __attribute__((warn_unused_result));

/* What CSI's caller is told of it: by its record, which is one of a snapshot that was created. */
Csi__V1__Snapshot *csi_snapshot_of(struct arena *arena, const Api__AzSnapshot *snapshot);

/* The same of an id, on record or not; NULL if there is no such snapshot. */
struct err *csi_read_snapshot(struct task *self, struct controller *controller, struct arena *arena,
                              const char *snapshot_id, Csi__V1__Snapshot **ret)
    __attribute__((warn_unused_result));
/* And the region that it is in, "" if that is not known. */
struct err *csi_locate_snapshot(struct task *self, struct controller *controller,
                                struct arena *arena, const char *snapshot_id,
                                Csi__V1__Snapshot **ret, const char **ret_region)
    __attribute__((warn_unused_result));
