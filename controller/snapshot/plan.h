/* plan.h - what an AzSnapshot needs next: pure functions.
 *
 * A snapshot that exists in the cloud stays as it is; whether its data has been copied is looked at
 * for many at once (progress.h).
 *
 * One that is to be in another region than its disk is a copy. A local one is taken first, in the
 * disk's region, is copied when its own data is there, and goes when the copy is complete. Its id
 * is on record before it may exist, so that it is found whatever happens.
 */
#pragma once

#include <stdbool.h>

struct snapshot_facts {
    bool deleting, has_finalizer;
    bool created;          /* it exists in the cloud, and its record says so */
    bool creating;         /* the record says that it may exist */
    bool failed;           /* it cannot be created, unless somebody asks again */
    bool goes, goes_now;   /* the record of that ends at some time; that time has come */
    bool adopted;          /* somebody else made it; the record is written to delete it */
    bool delete_requested; /* by DeleteSnapshot; without that, it outlives its record */
    bool gone;             /* it was deleted from the cloud */

    bool local;   /* a local one may exist, from which it is to be copied */
    bool taken;   /* that one was taken */
    bool whole;   /* the local one's data is there, so that it can be copied */
    bool waits;   /* an earlier one of the disk is to be copied first (turn.h) */
    bool copying; /* the copy exists */
    bool over;    /* it is complete, or will never be */
};

enum snapshot_step {
    SNAPSHOT_NONE,
    SNAPSHOT_ADD_FINALIZER,
    SNAPSHOT_RECORD_CREATING,
    SNAPSHOT_CREATE,
    SNAPSHOT_TAKE_LOCAL,
    SNAPSHOT_ANNOUNCE, /* CreateSnapshot is answered although there is no copy yet */
    SNAPSHOT_COPY,
    SNAPSHOT_DELETE_LOCAL,
    SNAPSHOT_REQUEUE, /* for the time when it goes */
    SNAPSHOT_FORGET,
    SNAPSHOT_DELETE,
    SNAPSHOT_REMOVE_FINALIZER,
};

enum snapshot_step snapshot_next(const struct snapshot_facts *in);
