/* staging.h - a volume at its staging path: where a node keeps it ready for its pods.
 *
 * A file system is mounted at the path itself. A raw volume is bound to a file "device" below it,
 * so that what is published later is the very device that was proven now. All calls block: for a
 * thread pool.
 */
#pragma once

#include "provisioner-lib/host/device.h"
#include "provisioner-lib/host/mount.h"
#include "provisioner-lib/host/mount_table.h"

/* Where the volume itself is: `path`, or its "device". */
char *staging_source(const char *path, bool raw) __attribute__((warn_unused_result));

/* What is staged at `path`; `ret->target` is NULL if nothing is. */
struct err *staging_find(const char *path, bool raw, struct mount_entry *ret)
    __attribute__((warn_unused_result));

/* The device that is staged at `path`; 0 if none is. */
struct err *staging_device(const char *path, bool raw, dev_t *ret)
    __attribute__((warn_unused_result));

/* Whether any volume is, in either way. */
struct err *staging_is_used(const char *path, bool *ret) __attribute__((warn_unused_result));

/* Makes the device read-only for everybody on this machine, or writable, before it is staged.
 * Nothing is done if it is staged or mounted already; `ret_read_only` then says how it is staged.
 */
struct err *staging_settle_access(const struct device *device, const char *path, bool raw,
                                  bool read_only, bool *ret_read_only)
    __attribute__((warn_unused_result));

/* Success if the very device is there already, in the way that is asked for; EXISTS if it is there
 * in another way, PRECONDITION if something else is. `request->device` is the path of `device`. */
struct err *staging_mount(const struct device *device, const struct mount_request *request)
    __attribute__((warn_unused_result));
struct err *staging_bind(const struct device *device, const char *path, bool read_only)
    __attribute__((warn_unused_result));

/* Flushes, unmounts, and forgets what was cached of the device; success if nothing is staged.
 * PRECONDITION while it is published or in use. Data that cannot be written any more is an error,
 * but one that does not come again: the volume is unmounted then. */
struct err *staging_remove(const char *path) __attribute__((warn_unused_result));
