/* device_settings.h - settings of a device in sysfs, such as queue/scheduler, that the owner of a
 * volume wants. Only files below the device's own folder can be set: no name leads out of it, not
 * even by a link. Blocks: for a thread pool.
 */
#pragma once

#include "provisioner-lib/host/device.h"

struct device_setting {
    const char *path, *value; /* "queue/scheduler", below the device's folder */
};

/* INVALID with the setting that does not exist or that the kernel refused; those before it are set.
 */
struct err *device_settings_apply(const struct device_roots *roots, const struct device *device,
                                  const struct device_setting *settings, size_t n)
    __attribute__((warn_unused_result));

/* How many requests the device has at once, for one that has such a setting; others, such as NVMe
 * namespaces, have a queue of their own. INVALID if the kernel refuses it. */
struct err *device_settings_queue_depth(const struct device_roots *roots,
                                        const struct device *device, unsigned depth)
    __attribute__((warn_unused_result));
