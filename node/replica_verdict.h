/* replica_verdict.h - whether a replica could be used at once, by what was seen of its disk, and
 * how that is put on record.
 *
 * Pure functions. The annotation ANNOTATION_REPLICA_READY says "true <time>" or "false <time>
 * <reason>", with the time since when that is so: another reason alone does not change it.
 */
#pragma once

#include <stdbool.h>

#include "provisioner-lib/host/readiness.h"

struct replica_sight {
    unsigned lun;         /* on record */
    uint64_t size, grown; /* that the disk should have, or may have; `grown` 0: no other */
    dev_t held;           /* what the plug-in keeps for the volume; 0: nothing */
    bool in_use;          /* by somebody else on this node */
    bool hangs;           /* the look has not ended; otherwise it says: */
    struct readiness seen;
    const struct err *err; /* of the look */
};

/* Why it could not be used; NULL if it could. free() it. */
char *replica_fault(const struct replica_sight *sight);

/* What is to be written; NULL if what is on record (`known`; NULL: nothing) says so already. free()
 * it. */
char *replica_note(const char *known, const char *fault, int64_t now_us);
