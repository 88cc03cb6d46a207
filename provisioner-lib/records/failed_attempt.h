/* failed_attempt.h - the record of a volume or snapshot that could not be made: how long it stays,
 * and what in the cloud the attempts can have left. Pure functions.
 */
#pragma once

#include <stdint.h>

#include "lib/api/kubernetes.pb-c.h"

/* After the last attempt. Longer than external-provisioner and csi-snapshotter wait between two
 * (their --retry-interval-max is 5 minutes). */
enum { FAILED_STAYS_MS = 10 * 60 * 1000 };

/* Why no attempt that the record knows of has made what was made at `made_us` (0: not told), in
 * wall time; NULL: one may have. A record that was restored from a backup does not know of a later
 * one, and one that was written anew not of an earlier one. `goes_us`: when it goes, 0: not noted.
 */
const char *failed_attempt_excludes(const Api__ObjectMeta *record, int64_t goes_us,
                                    int64_t made_us);
