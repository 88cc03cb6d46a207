/* states.h - the states of an attachment, and what happens to it in each of them at
 * every event: one table.
 *
 * The calls of CSI and the collection of replicas act as the table says. The steps that follow are
 * decided by attachment/plan.h from what is seen; a test walks every cell and compares. The page
 * docs/states.md is made of the same rows.
 */
#pragma once

#include "controller/attachment/plan.h"

/* The texts of these are the page's. */
enum attachment_phase {
    PHASE_ABSENT,            /* there is none for this volume and node */
    PHASE_REPLICA_PENDING,   /* a replica without a LUN; it waits for the primary */
    PHASE_REPLICA_ATTACHING, /* a replica with its LUN on record */
    PHASE_REPLICA_ATTACHED,  /* a replica that Azure has attached; never mounted */
    PHASE_PRIMARY_PENDING,   /* published here, without a LUN yet */
    PHASE_PRIMARY_ATTACHING, /* published here, with its LUN on record */
    PHASE_PRIMARY_ATTACHED,  /* published here and attached: a pod may use it */
    PHASE_PROMOTING, /* an attached replica that waits for another node's primary to step down */
    PHASE_DEMOTING,  /* an attached primary, unpublished, on record as the primary still */
    PHASE_LEAVING,   /* deleted, until Azure has detached the disk */
    PHASE_DELETED_WHILE_PUBLISHED, /* deleted by somebody while it is published: it is made anew */
    ATTACHMENT_PHASES,
};

/* Seen from one node. */
enum attachment_event {
    ON_PUBLISH,           /* ControllerPublishVolume for this node */
    ON_PUBLISH_ELSEWHERE, /* ControllerPublishVolume of a single-writer disk for another node */
    ON_UNPUBLISH_KEEPING, /* ControllerUnpublishVolume of a volume that keeps replicas */
    ON_UNPUBLISH,         /* ControllerUnpublishVolume otherwise, or if the node may still write */
    ON_COLLECTION_DUE,    /* the volume is unpublished, and the delay for its replicas is over */
    ON_DELETE,            /* somebody deletes the AzVolumeAttachment */
    ON_VOLUME_DELETED,    /* the AzVolume is deleted */
    ON_PRIMARY_ATTACHED,  /* the primary on another node is attached */
    ON_ROLE_FREE,         /* the primary on another node has been demoted */
    ON_ATTACHED,          /* the disk is attached here in Azure, whoever requested it */
    ON_ATTACH_FAILED,     /* Azure accepted the update of the VM but failed to complete it */
    ON_DISK_GONE,         /* the disk is not attached here in Azure */
    ON_NODE_SILENT,       /* no heartbeat, and the Node is not ready */
    ON_NODE_GONE,         /* the Node is deleted; Kubernetes has yet to unpublish its volumes */
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
    ANSWER_BUSY,    /* the call is answered with ABORTED, and its caller tries again */
    ANSWER_REFUSE,  /* the call is answered with FAILED_PRECONDITION; its caller tries again */
    ANSWER_DETACH,  /* a detach request is recorded, the object is deleted, a call waits */
    ANSWER_RELEASE, /* the object is deleted, unless it has changed */
    ANSWER_REPLACE, /* the object is deleted as soon as another node can take the replica */
};

struct attachment_transition {
    enum attachment_event event;
    enum attachment_phase phase;
    enum attachment_answer answer;
    enum attachment_step step;   /* that the reconciler takes then */
    enum attachment_phase after; /* that step */
};

enum attachment_phase attachment_phase(const struct attachment_snapshot *in);
const struct attachment_transition *attachment_transition(enum attachment_event event,
                                                          enum attachment_phase phase);
