/* target_mount.h - a staged volume, shown at the path at which a pod gets it.
 *
 * All calls block: for a thread pool.
 */
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"

struct target_mount {
    const char *staging, *target;
    bool raw;
    bool read_only; /* what is staged read-only always is; of a raw volume: for all of the node,
                     * because a device has but one such flag */
    bool alone;     /* at no other target at the same time */
};

/* Makes the target and mounts there. Success if that was done before in the same way; EXISTS if in
 * another, PRECONDITION if the volume is not staged, something else is at the target, or the volume
 * is to be alone and is not. */
struct err *target_mount_make(const struct target_mount *wanted)
    __attribute__((warn_unused_result));

/* Unmounts and removes the target; success if there is none. Nothing but an empty folder or file is
 * ever removed. */
struct err *target_mount_remove(const char *target) __attribute__((warn_unused_result));
