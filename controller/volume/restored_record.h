/* restored_record.h - an AzVolume that Velero has made again from a backup, without its status.
 *
 * Such tools leave the status out, and with it which disk the volume has; what is left reads like
 * CreateVolume's request for a new one, which nobody has made. Velero says by a label what it has
 * restored. Where a PersistentVolume or an annotation names the disk, that one is recorded. Pure.
 */
#pragma once

#include "lib/api/azdisk.pb-c.h"
#include "lib/base/err.h"

/* Nothing has been put on record of it since it was restored. */
bool restored_without_status(const Api__AzVolume *volume);

/* Why no disk is created for it, and what to do. */
struct err *restored_refusal(const Api__AzVolume *volume)
    __attribute__((returns_nonnull, warn_unused_result));
