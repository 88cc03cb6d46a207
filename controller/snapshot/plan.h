/* plan.h - what an AzSnapshot needs next: pure functions.
 *
 * A snapshot that exists in the cloud stays as it is; whether its data has been copied is looked at
 * for many at once (progress.h).
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
};

enum snapshot_step {
    SNAPSHOT_NONE,
    SNAPSHOT_ADD_FINALIZER,
    SNAPSHOT_RECORD_CREATING,
    SNAPSHOT_CREATE,
    SNAPSHOT_REQUEUE, /* for the time when it goes */
    SNAPSHOT_FORGET,
    SNAPSHOT_DELETE,
    SNAPSHOT_REMOVE_FINALIZER,
};

enum snapshot_step snapshot_next(const struct snapshot_facts *in);
