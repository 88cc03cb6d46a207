/* plan.h - which custom resources are missing for a volume that Kubernetes has.
 *
 * A pure function. A bound PersistentVolume and its attached VolumeAttachments outlive the custom
 * resources. If those are lost, the AzVolume is written again, and a published volume is published
 * again to its node, as the primary. The ordinary reconcilers then find the disk and the LUN at
 * which it is attached. The plan is made from the cache; every step is checked against the API
 * server before it is carried out.
 *
 * Guarantees, for any input:
 *   - nothing is recovered for a volume that is being deleted, and nothing is published to a node
 *     that is gone or for a VolumeAttachment that is being deleted. For the latter, only the
 *     AzVolume is recovered, so that the volume can be unpublished;
 *   - a publish that ControllerPublishVolume would refuse is not recovered either. If it would be
 *     refused because of a node for which there is no VolumeAttachment, the record of that node
 *     is to give its role back: another driver has unpublished the volume there (docs/moving.md).
 */
#pragma once

#include "controller/attachment/publish_plan.h"

enum recovery_volume {
    RECOVERY_NO_VOLUME,
    RECOVERY_VOLUME_UNREADY, /* its disk is not on record yet */
    RECOVERY_VOLUME_READY,
    RECOVERY_VOLUME_DELETING,
};

/* A node on which Kubernetes has the volume: a VolumeAttachment. */
struct recovery_node {
    bool attached, leaving; /* according to its status; being deleted */
    bool node_exists;
    struct publish_standing standing; /* of the AzVolumeAttachment */
    bool detach_requested;
};

struct recovery_snapshot {
    bool bound; /* the PersistentVolume is, and is not being deleted */
    enum recovery_volume volume;
    bool single_writer;
    const struct recovery_node *nodes;
    size_t n_nodes;
    const struct publish_standing *others; /* attachments on other nodes */
    size_t n_others;
};

enum recovery_step {
    RECOVERY_NONE,
    RECOVERY_WRITE_VOLUME,          /* because it has a claim */
    RECOVERY_WRITE_ATTACHED_VOLUME, /* because it is attached to node `node`, with or without a
                                       claim */
    RECOVERY_WRITE_ATTACHMENT,      /* of node `node`, as a replica */
    RECOVERY_PROMOTE,               /* the attachment of node `node` */
    RECOVERY_KEEP,   /* the same: remove a detach request, which Kubernetes did not make */
    RECOVERY_DEMOTE, /* attachment `other`, which is in the way of a publish to node `node` */
};

struct recovery_plan {
    enum recovery_step step;
    size_t node, other; /* indexes into `nodes` and `others` */
};

struct recovery_plan recovery_decide(const struct recovery_snapshot *in);
