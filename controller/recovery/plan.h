/* plan.h - what is missing on record of a volume that Kubernetes has.
 *
 * A pure function. What Kubernetes says, a bound PersistentVolume and VolumeAttachments that are
 * attached, is a record that outlives the custom resources: whatever became of those, the volume's
 * is written again, and what is published is published again, on its node and as its primary. The
 * ordinary reconcilers then find the disk, and the LUN at which it is attached. Every step is for a
 * first look by the cache, and is checked against the API server before it is carried out.
 *
 * Guarantees, for any input:
 *   - nothing is recovered of a volume that is being deleted, nor published to a node that is gone,
 *     nor for a VolumeAttachment that is being deleted; for that one the volume is recovered, so
 *     that it can be unpublished;
 *   - what ControllerPublishVolume would be refused is not recovered either.
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
    bool attached, leaving; /* by its status; it is being deleted */
    bool node_exists;
    struct publish_standing standing; /* of the AzVolumeAttachment */
    bool detach_requested;
};

struct recovery_snapshot {
    bool bound; /* the PersistentVolume, and nobody deletes it */
    enum recovery_volume volume;
    bool single_writer;
    const struct recovery_node *nodes;
    size_t n_nodes;
    const struct publish_standing *others; /* attachments on other nodes than those */
    size_t n_others;
};

enum recovery_step {
    RECOVERY_NONE,
    RECOVERY_WRITE_VOLUME,          /* of a claim */
    RECOVERY_WRITE_ATTACHED_VOLUME, /* because node `node` has it, claim or not */
    RECOVERY_WRITE_ATTACHMENT,      /* of node `node`, as a replica */
    RECOVERY_PROMOTE,               /* the attachment of node `node` */
    RECOVERY_KEEP,                  /* the same: take away a detach request that nobody made */
};

struct recovery_plan {
    enum recovery_step step;
    size_t node;
};

struct recovery_plan recovery_decide(const struct recovery_snapshot *in);
