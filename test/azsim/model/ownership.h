/* ownership.h - what a disk says of the VMs that have it.
 *
 * diskState, managedBy and what else clients read of a disk's owners follow what is (its
 * attachments) after a time of their own: the latency "orphan" if a VM was deleted that had the
 * disk, otherwise "ownership". Only what clients are told lags; what Azure allows goes by what is.
 *
 * The defaults follow what the driver of Microsoft, kubernetes-sigs/azuredisk-csi-driver, met:
 *
 * - After the deletion of a VM managedBy lags; commit 43f81177b (January 2026) makes the driver
 * wait for it, with seven looks in 42 s: hence 40 s. No figure is published, and 10 s is a guess.
 * - After a detach that has ended nobody reports a lag. The same commit waited there too;
 *   a021f4a3e (March 2026, #3563) took that out and left the wait for VMs that are gone. Since 2019
 *   an attach to another node fails with a "dangling" attachment if managedBy still names the
 *   former one (kubernetes#81266), which a lag of seconds would cause at each move of a pod; its
 *   author knows it only after detaches that failed (kubernetes#90749).
 * - A detach by force is a detach like any other to that driver. Of a lag after a deallocation
 *   there is no report.
 */
#pragma once

#include <jansson.h>

#include "lib/rt/timer.h"
#include "test/azsim/model/latency.h"

struct disk;

enum disk_state {
    DISK_STATE_UNATTACHED,
    DISK_STATE_ATTACHED,
    DISK_STATE_RESERVED,
    DISK_STATE_FROZEN
};

struct ownership {
    enum disk_state state;
    json_t *vms; /* ids, in the order in which they came; NULL: none */
    struct timer timer;
};

/* The disk's attachments, or the power of a VM that has it, are different from now on; clients are
 * told after that latency. */
void ownership_changed(struct disk *disk, enum latency_kind latency);
/* What is becomes what is told, at once: after a restart. */
void ownership_catch_up(struct disk *disk);
void ownership_fini(struct disk *disk);
