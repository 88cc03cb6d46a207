/* plan.h - the next step in the life of one attachment.
 *
 * A pure function: it looks at an attachment, at the other attachments of its volume and at the
 * VM's model, and names one step. The reconciler takes it and asks again with what it then sees, so
 * that a step may fail, or the process may end, at any point, and the next plan goes on from there.
 *
 * Guarantees, for any input:
 *   - a change of role of an attached disk needs no read of the cloud and no other call to it;
 *   - nothing is attached without its LUN being on record, and never to a LUN that the model or
 *     another record has taken;
 *   - a single writer's disk has one primary: nobody becomes it while another is on record;
 *   - a replica waits until the primary is attached; nobody is attached beyond max_shares;
 *   - "attached" is recorded only of what the settled model says;
 *   - a LUN at which the model has another disk is taken off a record before anything else;
 *   - a primary is detached only when its unpublishing was asked for, whatever becomes of its Node;
 *   - the finalizer goes only when the model no longer has the disk, or there is no VM; of a VM
 * whose id is a guess neither proves anything, and the disk itself is asked;
 *   - what is attached to a VM that was the node's before is detached there before anything else;
 *   - a primary waits for no replica: when the VM is full one gives way (attachment/preemption.h),
 * and the primary gets its LUN without waiting for that one's detach;
 *   - a replica that leaves waits for the primary that is to take its place for half a minute at
 *     most, and not at all while the deletion of its volume waits for it;
 *   - a limit of the VM that is guessed (cloud.h) refuses no primary, nor does a replica give way
 *     because of it;
 *   - a replica takes no place that a waiting primary needs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "controller/attachment/preemption.h"
#include "provisioner-lib/cloud.h"

enum attachment_role { ROLE_NONE, ROLE_IS_PRIMARY, ROLE_IS_REPLICA };

enum attachment_state {
    ATTACHMENT_NEW, /* "", Pending, and whatever has to be read anew */
    ATTACHMENT_ATTACHING,
    ATTACHMENT_ATTACHED,
    ATTACHMENT_DETACHING,
};

/* Of the VM of an attachment, among those that the disk names as its owners
 * (attachment/disk_owner.h). */
enum disk_owner_search {
    DISK_OWNER_UNASKED,
    DISK_OWNER_NONE, /* it is not attached to that VM */
    DISK_OWNER_FOUND,
    DISK_OWNER_UNCLEAR, /* an owner does not say which node it is */
};

enum { MAX_LUNS = CLOUD_MOST_SLOTS };

struct attachment_snapshot {
    bool deleting, has_finalizer;
    enum attachment_role wanted, role;
    enum attachment_state state;
    int lun;        /* on record; NO_LUN if none */
    bool published; /* a replica where Kubernetes has it: recovery/reconcile.h is to promote it */
    bool detach_requested; /* by ControllerUnpublishVolume */
    bool node_exists;
    bool vm_recorded; /* which VM it is, with the LUN */
    bool vm_moved;    /* ... and the Node is another VM by now */
    bool vm_guessed; /* neither the record nor a Node says: what the cloud does not know is unknown,
                        not gone */
    bool verified;   /* since this process leads, the cloud was seen to agree with "attached" */

    bool volume_ready; /* the AzVolume exists, has its disk and is not being deleted */
    unsigned max_shares;
    unsigned other_shares; /* other attachments that hold a share or are about to */
    bool primary_attached; /* another attachment is the primary, and attached */
    bool primary_waits;    /* another attachment is the primary, and not attached yet */
    bool role_taken;       /* another one is the primary on record, and only one may be */

    const struct neighbour *neighbours; /* the other attachments on this node */
    size_t n_neighbours;
    bool luns_taken[MAX_LUNS]; /* on record of them */
    bool primary_arrives;      /* one of them is a primary that is not attached yet, but will be */
    bool volume_goes;          /* the AzVolume is gone, or its deletion has been asked for */
    int64_t deleting_for_ms;   /* since its own deletion was asked for, by the leader's clock */

    bool vm_read;                          /* whether the next three mean anything */
    bool vm_refreshed;                     /* and that it was read for this */
    const struct cloud_instance *instance; /* NULL: there is no such VM */
    enum disk_owner_search owner;
    const char *disk_id;
};

enum attachment_step {
    STEP_NONE,          /* all is as it should be, or nothing can be done until something changes */
    STEP_ADD_FINALIZER, /* so that nothing is forgotten */
    STEP_REMOVE_FINALIZER, /* it is over */
    STEP_READ_VM,          /* read the VM's model, or take it as it was a moment ago */
    STEP_REFRESH_VM,       /* the same, but a model from before counts no more */
    STEP_REQUEUE,          /* it is changing: read it again in a while */
    STEP_RECORD_ATTACHING, /* a LUN for it: `lun` */
    STEP_ATTACH,           /* the disk to the VM, at `lun` */
    STEP_REPAIR,           /* the VM's last change was not carried out */
    STEP_RECORD_ATTACHED,  /* that it is, at `lun` */
    STEP_RECORD_ROLE,      /* on record it becomes what it is to be */
    STEP_RECORD_LOST,      /* the cloud no longer has what was attached */
    STEP_RECORD_DISPLACED, /* the model has another disk at the LUN of the neighbour `victim` */
    STEP_VERIFIED,         /* the cloud has what was attached: remember it */
    STEP_ASK_DISK,         /* to which VM it is attached */
    STEP_RECORD_VM,        /* which VM it is */
    STEP_FORGET_VM,        /* the former VM of the node, which no longer has the disk */
    STEP_RECORD_DETACHING, /* that it is to be detached */
    STEP_DETACH,           /* the disk from the VM */
    STEP_PREEMPT,          /* the neighbour `victim` gives way */
    STEP_RESCHEDULE,       /* a replica for which there is no place: it is to be put elsewhere */
    STEP_NO_VM,            /* an error: the node has no VM */
    STEP_NO_SLOT,          /* an error: the VM can take no more disks */
    STEP_UNKNOWN_VM,       /* an error: the disk is attached, perhaps to this node's VM */
};

struct attachment_plan {
    enum attachment_step step;
    int lun;
    bool swaps_out; /* of STEP_ATTACH: there is room only without the leaving neighbours' disks */
    size_t victim;  /* of STEP_PREEMPT and STEP_RECORD_DISPLACED */
};

struct attachment_plan attachment_next(const struct attachment_snapshot *in);
