/* plan.h - the next step in the life of one volume.
 *
 * A pure function, like attachment/plan.h. Guarantees, for any input:
 *   - a disk is deleted only if DeleteVolume has requested it, the disk did not exist before the
 *     volume, and no attachment is left;
 *   - the volume's reconciler never deletes a published attachment, and leaves no attachment
 *     without its volume, because nothing would remove it;
 *   - the record of a disk that existed before the volume ends with its PersistentVolume, as soon
 *     as the volume is not published and no attachment is left;
 *   - the finalizer is removed only if there is nothing left to do in the cloud, or if the record
 *     is written again immediately: an AzVolume that was deleted while it has a claim must not
 *     stay, because nothing is attached for a volume that is being deleted;
 *   - a disk grows only if ControllerExpandVolume has requested it, and is modified only if
 *     ControllerModifyVolume has; where Azure allows that only while no VM has the disk, it waits
 *     until the volume is not in use, and only then are its replicas detached, so that every
 *     failover finds them;
 *   - a disk does not grow while Azure copies its data: Azure refuses that, or lets the snapshots
 *     fail that are copied;
 *   - no disk is created for a record that was restored without its status, until CreateVolume is
 *     called for it;
 *   - a creation that failed permanently is repeated only if CreateVolume is called again, and is
 *     forgotten if that does not happen for long enough; reading a disk that exists already, or
 *     will, is retried until it succeeds.
 */
#pragma once

#include <stdbool.h>

struct volume_snapshot {
    bool deleting, has_finalizer;
    bool created;         /* its disk is on record */
    bool creating;        /* a creation is on record */
    bool failed;          /* creation failed for good */
    bool goes, goes_now;  /* unless CreateVolume is called again, it is forgotten: later, or now */
    bool restored;        /* by a backup tool, without its status: nobody has requested a disk */
    bool has_disk;        /* a disk that existed before the volume */
    bool pre_provisioned; /* the same, and the driver never deletes the disk */
    bool unseen;          /* the same, and the disk has to be read: never done, or requested */
    bool delete_requested;
    bool pv_changed; /* the record does not say which PersistentVolume and claim have it */
    bool pv_missing; /* the cache lacks the PersistentVolume, whose end is the AzVolume's */
    bool pv_gone;    /* in this run, the API server lacks it too; or another one has replaced it */
    bool claimed;    /* it has a claim: without an AzVolume it would be recovered */
    bool disk_deleted;  /* in this run */
    bool unattached;    /* in this run, the API server has confirmed that there is no attachment */
    unsigned primaries; /* attachments that are published, or will be */
    unsigned others;    /* attachments that may be released */
    unsigned leaving;
    bool has_new_filesystem; /* an attachment names the file system, the AzVolume does not yet */

    bool updating;       /* ControllerExpandVolume has requested a size; not done yet */
    bool size_differs;   /* the requested size is more than the one on record */
    bool grows_attached; /* the disk can grow while a VM has it */
    bool copying;        /* data is copied to the disk, or from it to a snapshot */

    bool modifying;         /* ControllerModifyVolume has requested it; neither done nor refused */
    bool modifies_attached; /* the disk can be modified so while a VM has it */
    bool modify_requested;  /* in this run, of Azure, which is not done yet */

    bool disk_read;     /* in this run, and what it is has been recorded */
    bool in_use;        /* a pod has the volume, or Kubernetes has it published or will */
    bool replicas_stay; /* they are not detached for a growth or a modification */
};

enum volume_step {
    VOLUME_NONE,
    VOLUME_ADD_FINALIZER,
    VOLUME_REMOVE_FINALIZER,
    VOLUME_RECORD_CREATING,
    VOLUME_CREATE, /* the disk, and record it */
    VOLUME_REFUSE, /* to create one: record why */
    VOLUME_ADOPT,  /* record the disk that exists */
    VOLUME_RECORD_FILESYSTEM,
    VOLUME_GROW,             /* the disk, and record its size */
    VOLUME_READ_DISK,        /* which may have been changed before, unrecorded */
    VOLUME_RECORD_GROWN,     /* it is as large as requested */
    VOLUME_MODIFY,           /* the disk, and record it */
    VOLUME_RELEASE,          /* delete the attachments that may be deleted */
    VOLUME_DELETE,           /* the disk */
    VOLUME_CHECK_UNATTACHED, /* whether the API server has attachments that the cache lacks */
    VOLUME_FOLLOW_PV,        /* record which PersistentVolume and claim have it */
    VOLUME_CHECK_PV_GONE,
    VOLUME_REQUEUE, /* for the time at which a failed creation is forgotten */
    VOLUME_FORGET,  /* delete the AzVolume of a creation that failed */
    VOLUME_END,     /* delete the AzVolume, and leave the disk */
};

enum volume_step volume_next(const struct volume_snapshot *in);
