/* states.h - the states of an attachment, and what each event does to it in each state: one table.
 *
 * CSI calls and the garbage collection of replicas act according to the table. The steps that
 * follow are decided by attachment/plan.h from the observed state; a test compares every cell. The
 * page docs/states.md is made from the same rows.
 */
#pragma once

#include "controller/attachment/plan.h"

/* The comments of these enumerators are texts of the page. */
enum attachment_phase {
    PHASE_ABSENT,            /* no attachment exists for this volume and node */
    PHASE_REPLICA_PENDING,   /* a replica without a LUN, which waits for the primary */
    PHASE_REPLICA_ATTACHING, /* a replica with its LUN on record */
    PHASE_REPLICA_ATTACHED,  /* a replica that Azure has attached; never mounted */
    PHASE_PRIMARY_PENDING,   /* published here, without a LUN yet */
    PHASE_PRIMARY_ATTACHING, /* published here, with its LUN on record */
    PHASE_PRIMARY_ATTACHED,  /* published here and attached: a pod may use it */
    PHASE_PROMOTING, /* published here: an attached replica that waits for another primary to be
                        demoted */
    PHASE_DEMOTING,  /* unpublished: attached, and still the primary on record */
    PHASE_LEAVING,   /* deleted, but Azure has not detached the disk yet */
    PHASE_DELETED_WHILE_PUBLISHED, /* deleted although it is published: it will be created again */
    ATTACHMENT_PHASES,
};

/* From the point of view of one node. */
enum attachment_event {
    ON_PUBLISH,           /* ControllerPublishVolume for this node */
    ON_PUBLISH_ELSEWHERE, /* ControllerPublishVolume of a single-writer disk for another node */
    ON_UNPUBLISH_KEEPING, /* ControllerUnpublishVolume of a volume that keeps replicas */
    ON_UNPUBLISH, /* ControllerUnpublishVolume otherwise, or if the node may still be writing */
    ON_COLLECTION_DUE,   /* the deadline for the replicas of an unpublished volume has passed */
    ON_DELETE,           /* somebody deletes the AzVolumeAttachment */
    ON_VOLUME_DELETED,   /* the AzVolume is deleted */
    ON_PRIMARY_ATTACHED, /* the primary on another node is attached */
    ON_ROLE_FREE,        /* the primary on another node has been demoted */
    ON_ATTACHED,         /* Azure has attached the disk here, no matter who requested it */
    ON_ATTACH_FAILED,    /* Azure accepted the update of the VM but failed to complete it */
    ON_DISK_GONE,        /* the disk is not attached here in Azure */
    ON_NODE_UNREACHABLE, /* no heartbeat, and the Node is not ready */
    ON_NODE_GONE, /* the Node is deleted, but Kubernetes has not unpublished its volumes yet */
    ON_NODE_GONE_UNPUBLISHED, /* the Node is deleted, and there is no VolumeAttachment for it */
    ON_LEADER_CHANGED,        /* another controller has become the leader */
    ATTACHMENT_EVENTS,
};

enum attachment_answer {
    ANSWER_NOTHING, /* nothing */
    ANSWER_CREATE,  /* an AzVolumeAttachment is created as the primary */
    ANSWER_PROMOTE, /* `spec.role` becomes Primary */
    ANSWER_DEMOTE,  /* `spec.role` becomes Replica */
    ANSWER_WAIT,    /* the call waits for the same result as the first one */
    ANSWER_BUSY,    /* the call returns ABORTED; its caller tries again */
    ANSWER_REFUSE,  /* the call returns FAILED_PRECONDITION; its caller tries again */
    ANSWER_DETACH,  /* a detach request is recorded and the object is deleted; a call waits */
    ANSWER_RELEASE, /* the object is deleted, unless it has changed */
    ANSWER_REPLACE, /* the object is deleted as soon as another node can take the replica */
};

struct attachment_transition {
    enum attachment_event event;
    enum attachment_phase phase;
    enum attachment_answer answer;
    enum attachment_step step;   /* the reconciler's next step */
    enum attachment_phase after; /* the step */
};

enum attachment_phase attachment_phase(const struct attachment_snapshot *in);
const struct attachment_transition *attachment_transition(enum attachment_event event,
                                                          enum attachment_phase phase);
