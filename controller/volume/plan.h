/* plan.h - the next step in the life of one volume.
 *
 * A pure function, like attachment/plan.h. Guarantees, for any input:
 *   - a disk is deleted only when DeleteVolume asked for it, it was not there before the volume,
 * and no attachment is left;
 *   - no attachment that is published is ever deleted from here, and none is left without its
 *     volume, where nobody would take it away;
 *   - the record of a disk that was there before ends with its PersistentVolume, when nobody has
 * the volume published and no attachment is left;
 *   - the finalizer goes only when there is nothing left to do in the cloud, or from a record that
 *     is written anew at once: one that somebody deleted under its claim must not stay, since
 *     nothing is attached for a volume that is being deleted;
 *   - a creation that failed for good is tried again only when CreateVolume asks again, and
 *     forgotten when it has not done so for long enough; a disk that is there already, or is to
 *     be, is looked at as long as that fails.
 */
#pragma once

#include <stdbool.h>

struct volume_snapshot {
    bool deleting, has_finalizer;
    bool created;         /* its disk is on record */
    bool creating;        /* a creation is on record */
    bool failed;          /* creation failed for good */
    bool goes, goes_now;  /* and if nobody asks again, it goes: later, or now */
    bool has_disk;        /* that was there before it */
    bool pre_provisioned; /* the same, and is nobody's to delete */
    bool unseen;          /* the same, and it has to be looked at: nobody has, or somebody asks */
    bool delete_requested;
    bool pv_changed;    /* the record does not say which PersistentVolume and claim have it */
    bool pv_missing;    /* no watch knows the one that it is of, whose end is its own */
    bool pv_gone;       /* in this go, the API server has said so too; or another one is there */
    bool claimed;       /* a claim has it: without an AzVolume it would be recovered */
    bool disk_deleted;  /* in this go */
    bool unattached;    /* in this go, the API server has said so too */
    unsigned primaries; /* attachments that are published, or about to be */
    unsigned others;    /* attachments that may be released */
    unsigned leaving;
    bool has_filesystem_news; /* an attachment knows the file system, the volume does not yet */
};

enum volume_step {
    VOLUME_NONE,
    VOLUME_ADD_FINALIZER,
    VOLUME_REMOVE_FINALIZER,
    VOLUME_RECORD_CREATING,
    VOLUME_CREATE, /* the disk, and record it */
    VOLUME_ADOPT,  /* record the disk that is there */
    VOLUME_RECORD_FILESYSTEM,
    VOLUME_RELEASE,          /* delete the attachments that may go */
    VOLUME_DELETE,           /* the disk */
    VOLUME_CHECK_UNATTACHED, /* the attachments above are those that a watch has told of */
    VOLUME_FOLLOW_PV,        /* record which PersistentVolume and claim have it */
    VOLUME_CHECK_PV_GONE,
    VOLUME_LOOK_LATER,
    VOLUME_FORGET, /* delete the AzVolume of a creation that failed */
    VOLUME_END,    /* delete the AzVolume, and leave the disk */
};

enum volume_step volume_next(const struct volume_snapshot *in);
