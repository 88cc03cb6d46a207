/* sysfs.h - what the kernel says of a block device in sysfs. */
#pragma once

#include "provisioner-lib/host/device.h"

/* The device's folder, by its number; NULL if the kernel has no such device. free() it. */
char *sysfs_folder(const struct device_roots *roots, dev_t device)
    __attribute__((warn_unused_result));

/* An attribute in a folder, without the blanks at its end; NULL if it cannot be read. free() it. */
char *sysfs_read(const char *folder, const char *name) __attribute__((warn_unused_result));
