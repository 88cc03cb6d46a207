/* leading.h - what exists only while this process leads: the queues of the reconcilers, and what
 * they remember.
 *
 * leader.c makes it when the process has caught up, and frees it with the lease. The next leader
 * begins with nothing: whatever must outlive this one is on record. Each member is read and written
 * by the file that is named beside it.
 */
#pragma once

#include "lib/base/list.h"
#include "lib/base/string_set.h"
#include "lib/kube/workqueue.h"

/* Keys are those of the objects that a queue is named after; of FAILOVER_QUEUE, AzDriverNodes'; of
 * REPLICA_QUEUE, RECOVERY_QUEUE and SUMMARY_QUEUE, AzVolumes'; of PLACEMENT_QUEUE, Pods'; of
 * SNAPSHOT_PROGRESS_QUEUE and DISK_PROGRESS_QUEUE, see progress.h. */
enum queue {
    VOLUME_QUEUE,
    ATTACHMENT_QUEUE,
    ROLE_QUEUE,
    REPLICA_QUEUE,
    NODE_QUEUE,
    LIMIT_QUEUE,
    RECOVERY_QUEUE,
    SUMMARY_QUEUE,
    SNAPSHOT_QUEUE,
    SNAPSHOT_PROGRESS_QUEUE,
    DISK_PROGRESS_QUEUE,
    FAILOVER_QUEUE,
    PLACEMENT_QUEUE,
    N_QUEUES
};

/* What an attachment is about to record: a LUN and with it a share, or that it is the primary. Two
 * attachments that decide at the same moment thereby do not choose the same. */
struct reservation {
    struct list link;
    const char *node, *volume;
    int lun; /* NO_LUN: none */
    bool primary;
};

struct leading {
    struct workqueue *queues[N_QUEUES];
    struct list reservations; /* of struct reservation; attachment/status.c */
    /* Uids of attachments that the cloud was seen to have; attachment/snapshot.c. */
    struct string_set verified;
    /* Uids of attachments whose disk lets changes of its VM fail; attachment/failed_attach.c. */
    struct string_set failed_attaches;
    /* Keys of primaries that the cloud has begun to attach; attachment/snapshot.c. */
    struct string_set accepted;
    /* Volumes that have fewer replicas than wanted; replica/unschedulable.c. */
    struct unschedulable *unschedulable;
    /* That are known to come; attachment/attacher_calls.c. */
    struct attacher_calls *attacher_calls;
    /* Uids of attachments with a note that does not count; volume/filesystem_note.c. */
    struct string_set ignored_notes;
    /* Of which nothing is heard; failover/node_leases.c. */
    struct node_leases *node_leases;
    /* Names of Nodes whose taint is being written, or is not seen yet; failover/reconcile.c. */
    struct string_set given_up;
    /* Uids of attachments without a fence of which users were told; attachment/unfenced.c. */
    struct string_set unfenced;
    /* For calls of which a pod's start may wait, and places that pods were proposed for; NULL
     * without --placement=nominate; placement/reconcile.c, placement/reservations.c. */
    struct kube *placement_kube;
    struct reservations *reserved_places;
};
