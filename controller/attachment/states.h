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
    ON_PUBLISH_ELSEWHERE, /* ControllerPublishVolume for another node, of a disk with one writer */
    ON_UNPUBLISH_KEEPING, /* ControllerUnpublishVolume of a volume that keeps replicas */
    ON_UNPUBLISH,         /* ControllerUnpublishVolume of any other, or of a node that may write */
    ON_COLLECTION_DUE,    /* the volume is unpublished, and its replicas' time is over */
    ON_DELETE,            /* somebody deletes the AzVolumeAttachment */
    ON_VOLUME_DELETED,    /* the AzVolume is deleted */
    ON_PRIMARY_ATTACHED,  /* the primary on another node is attached */
    ON_ROLE_FREE,         /* the primary on another node has stepped down */
    ON_ATTACHED,          /* Azure has the disk attached here, whoever asked for it */
    ON_ATTACH_FAILED,     /* Azure took the change of the VM and could not carry it out */
    ON_DISK_GONE,         /* Azure no longer has the disk here, or never had */
    ON_NODE_SILENT,       /* no heartbeat, and the Node is not ready */
    ON_NODE_GONE,         /* the Node is deleted; Kubernetes is to unpublish what is there */
    ON_NODE_GONE_UNPUBLISHED, /* the same, and there is no VolumeAttachment that says so */
    ON_LEADER_CHANGED,        /* another controller leads */
    ATTACHMENT_EVENTS,
};

enum attachment_answer {
    ANSWER_NOTHING, /* nothing */
    ANSWER_CREATE,  /* an AzVolumeAttachment is made, as the primary */
    ANSWER_PROMOTE, /* it is to be the primary: `spec.role` */
    ANSWER_DEMOTE,  /* it is to be a replica: `spec.role` */
    ANSWER_WAIT,    /* the call waits like the first one */
    ANSWER_BUSY,    /* the call is answered with ABORTED, and made again by its caller */
    ANSWER_REFUSE, /* the call is answered with FAILED_PRECONDITION, and made again by its caller */
    ANSWER_DETACH, /* a detach request goes on record, the object is deleted, a call waits */
    ANSWER_RELEASE, /* the object is deleted, unless it has changed */
    ANSWER_REPLACE, /* as soon as another node can have the replica, the object is deleted */
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
