/* perf_profile.h - the settings of a volume's device that its StorageClass asks for by perfProfile.
 */
#pragma once

#include "node/volume_access.h"
#include "node/volume_record.h"

/* Before the device is used. INVALID, naming the profile or the setting, if the kernel refuses one.
 * A disk that is of a kind without a basic profile by now gets none. */
struct err *perf_profile_apply(struct task *self, struct host *host, const struct device *disk,
                               const struct volume_access *access,
                               const struct volume_record *record)
    __attribute__((warn_unused_result));
