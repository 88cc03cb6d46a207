/* device.h - the block device of a LUN.
 *
 * Azure tells a VM by the LUN which disk is which. Where the kernel puts the disk depends on the
 * VM: on SCSI machines the LUN is the fourth number of the device's address, below one of the
 * controllers that carry data disks (the operating system's disk has a controller of its own, or is
 * linked as such); on NVMe machines it is what the namespace says (nvme_namespace.h), or else its
 * id less two, on the controller of the remote disks. Links that udev rules make are looked at as
 * well, unless they lead to a disk that is at another LUN by the above. If several disks are left,
 * nobody can say which one is meant, and that is an error.
 *
 * A device is held open from the look until its owner closes it, so that its name cannot go over to
 * another disk meanwhile. All calls block: for a thread pool.
 */
#pragma once

#include <sys/types.h>

#include "lib/base/err.h"

struct device_roots {
    const char *sys, *dev; /* "/sys", "/dev"; tests have trees of their own */
};

struct device {
    char *path; /* without links: "/dev/sdc" */
    dev_t number;
    int fd; /* read-only */
};

#define DEVICE_NONE ((struct device){.fd = -1})

/* NOT_FOUND if there is none yet, PRECONDITION if there are several. */
struct err *device_find(const struct device_roots *roots, unsigned lun, struct device *ret)
    __attribute__((warn_unused_result));
void device_close(struct device *device); /* DEVICE_NONE is fine */

/* Has all SCSI hosts, and the NVMe controllers of remote disks, look for disks that the kernel does
 * not know. */
void device_rescan_controllers(const struct device_roots *roots);
/* Has the kernel ask a disk for its size: a device that has got another disk may remember the old
 * one. */
void device_rescan(const struct device_roots *roots, const struct device *device);
