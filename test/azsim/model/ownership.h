/* ownership.h - what a disk says of the VMs that have it.
 *
 * Azure's disk provider hears late from its compute provider: diskState, managedBy and what else
 * clients read of a disk's owners follow what is (its attachments) after a time of their own, the
 * latency "ownership". Only what clients are told lags; what Azure allows goes by what is.
 */
#pragma once

#include <jansson.h>

#include "lib/rt/timer.h"

struct disk;

enum disk_state { DISK_STATE_UNATTACHED, DISK_STATE_ATTACHED, DISK_STATE_RESERVED };

struct ownership {
    enum disk_state state;
    json_t *vms; /* ids, in the order in which they came; NULL: none */
    struct timer timer;
};

/* The disk's attachments, or the power of a VM that has it, are different from now on. */
void ownership_changed(struct disk *disk);
/* What is becomes what is told, at once: after a restart. */
void ownership_catch_up(struct disk *disk);
void ownership_fini(struct disk *disk);
