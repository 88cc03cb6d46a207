/* plan.h - the next step in the life of one attachment.
 *
 * A pure function: it reads the attachment, the other attachments of its volume and the VM's model,
 * and names one step. The reconciler takes the step and calls it again with the new state. So a
 * step may fail, or the process may end, at any point: the next plan continues from there.
 *
 * Guarantees, for any input:
 *   - changing the role of an attached disk needs no call to the cloud, not even a read;
 *   - a disk is attached only after its LUN has been recorded, and never at a LUN that the model or
 *     another record uses;
 *   - a single-writer disk has one primary: no attachment becomes the primary while another one is
 *     the primary on record;
 *   - a replica waits until the cloud has begun to attach the primary; there are never more than
 *     max_shares attachments;
 *   - "attached" is recorded only if a settled model says so;
 *   - a disk that the model has and Azure cannot attach does not stay there, where it lets every
 *     other change of the VM fail;
 *   - if the model has another disk at a recorded LUN, that LUN is removed from the record before
 *     anything else;
 *   - a primary is detached only if an unpublish has been requested, whatever happens to its Node;
 *   - the finalizer is removed only if the model no longer has the disk, or there is no VM. If the
 *     VM's id is a guess, neither proves anything, and the disk itself is read;
 *   - a disk that is attached to the VM that was the node's before is detached from that VM before
 *     anything else;
 *   - a primary never waits for a replica: on a full VM, one replica gives way
 *     (attachment/preemption.h), and the primary gets its LUN before that replica is detached;
 *   - a replica that is leaving waits at most half a minute for the primary that will take its
 * slot, and not at all if the deletion of its volume waits for it;
 *   - a guessed limit of a VM (cloud.h) neither refuses a primary nor makes a replica give way;
 *   - a replica never takes a slot that a waiting primary needs, nor one that is reserved for disks
 *     of others; a primary takes a reserved one only if no replica can give way.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "controller/attachment/preemption.h"
#include "provisioner-lib/cloud.h"

enum attachment_role { ROLE_NONE, ROLE_IS_PRIMARY, ROLE_IS_REPLICA };

enum attachment_state {
    ATTACHMENT_NEW, /* "", Pending, and records that have to be written again */
    ATTACHMENT_ATTACHING,
    ATTACHMENT_ATTACHED,
    ATTACHMENT_DETACHING,
};

/* Result of the search for the VM of an attachment among the owners that the disk names
 * (attachment/disk_owner.h). */
enum disk_owner_search {
    DISK_OWNER_UNASKED,
    DISK_OWNER_NONE, /* the disk is not attached to that VM */
    DISK_OWNER_FOUND,
    DISK_OWNER_UNCLEAR, /* it is unknown to which node an owner belongs */
};

enum { MAX_LUNS = CLOUD_MOST_SLOTS };

struct attachment_snapshot {
    bool deleting, has_finalizer;
    enum attachment_role wanted, role;
    enum attachment_state state;
    int lun;        /* on record; NO_LUN if none */
    bool published; /* a replica where Kubernetes has the volume: recovery/reconcile.h will promote
                       it */
    bool detach_requested; /* by ControllerUnpublishVolume */
    bool node_exists;
    bool vm_recorded; /* the record names the VM, along with the LUN */
    bool vm_moved;    /* ... but the Node is another VM now */
    bool vm_guessed;  /* neither the record nor a Node names it: if the cloud does not have this VM,
                         that proves nothing */
    bool since_boot;  /* the cloud was seen to have the disk there since the node was started last,
                         or the node does not say when that was */
    bool size_differs; /* the disk has grown since the attachment's record was written */
    bool verified; /* "attached" was compared with the cloud since this process has been the leader
                    */

    bool failed_attach; /* a repair of the VM for the sake of this disk has failed */

    bool volume_ready; /* the AzVolume exists, has its disk and is not being deleted */
    unsigned max_shares;
    unsigned other_shares; /* other attachments that hold a share or will */
    bool primary_attached; /* another attachment is the primary, and attached, or the cloud has
                              begun to attach it */
    bool primary_waits;    /* another attachment is the primary, and not that far yet */
    bool keeps_fence;      /* a node that was given up has the disk still, and may write once no
                              other node has it */
    bool role_taken;       /* another attachment is the primary on record, and only one may be */

    const struct neighbour *neighbours; /* the other attachments on this node, as soon as vm_read */
    size_t n_neighbours;
    bool luns_taken[MAX_LUNS]; /* by their records, likewise */
    int reserved_slots;        /* places of the VM that are for disks of others */
    bool primary_arrives;      /* a neighbour is a primary that will be attached */
    bool volume_goes;          /* the AzVolume is gone, or its deletion has been requested */
    int64_t deleting_for_ms;   /* since its deletion timestamp, by the leader's clock */

    bool vm_read;                          /* `vm_refreshed` and `instance` are valid */
    bool vm_refreshed;                     /* ... and the model was read for this plan */
    const struct cloud_instance *instance; /* NULL: there is no such VM */
    enum disk_owner_search owner;
    const char *disk_id;
};

enum attachment_step {
    STEP_NONE,             /* nothing to do, or nothing until something changes */
    STEP_ADD_FINALIZER,    /* so that the object stays until the disk is detached */
    STEP_REMOVE_FINALIZER, /* let Kubernetes delete the object */
    STEP_READ_VM,          /* read the VM's model; a recent copy will do */
    STEP_REFRESH_VM,       /* read the VM's model anew from Azure */
    STEP_REQUEUE,          /* the VM is changing: read its model again later */
    STEP_RECORD_ATTACHING, /* choose a LUN and write it to the status */
    STEP_ATTACH,           /* let Azure attach the disk to the VM, at its LUN */
    STEP_REPAIR,           /* repeat the VM's last update, which was not carried out */
    STEP_RECORD_ATTACHED,  /* write to the status that the disk is attached */
    STEP_RECORD_ROLE,      /* write the requested role to the status */
    STEP_RECORD_SIZE,      /* write the size to which the disk has grown to the status */
    STEP_RECORD_LOST,      /* write to the status that the VM no longer has the disk */
    STEP_RECORD_DISPLACED, /* remove the LUN of neighbour `victim`: the VM has another disk there */
    STEP_VERIFIED,         /* remember that the VM has the disk, as recorded */
    STEP_ASK_DISK,         /* read from the disk to which VM it is attached */
    STEP_RECORD_VM,        /* record the VM, and in which boot it has the disk */
    STEP_FORGET_VM, /* remove the node's former VM, which no longer has the disk, from the record */
    STEP_RECORD_DETACHING, /* write to the status that the disk is being detached */
    STEP_DETACH,           /* let Azure detach the disk from the VM */
    STEP_PREEMPT,          /* delete the neighbour `victim`, a replica that gives way */
    STEP_RESCHEDULE, /* delete the replica, for which there is no slot: it is placed elsewhere */
    STEP_NO_VM,      /* report an error: the node has no VM */
    STEP_NO_SLOT,    /* report an error: the VM cannot take another disk */
    STEP_UNKNOWN_VM, /* report an error: the disk is attached, perhaps to this node's VM */
};

struct attachment_plan {
    enum attachment_step step;
    int lun;        /* with STEP_RECORD_ATTACHING, STEP_ATTACH and STEP_RECORD_ATTACHED */
    bool swaps_out; /* with STEP_ATTACH: detach the leaving neighbours' disks in the same update */
    size_t victim;  /* with STEP_PREEMPT and STEP_RECORD_DISPLACED */
};

struct attachment_plan attachment_next(const struct attachment_snapshot *in);
