/* partition.h - a partition of a disk, as the kernel knows it: the device of a volume whose
 * PersistentVolume has the volume attribute "partition".
 *
 * The driver proves the disk, and uses the partition. It makes no partitions and moves none: a
 * partition stays as large as it is when its disk grows, until somebody enlarges it.
 *
 * All calls block: for a thread pool.
 */
#pragma once

#include "provisioner-lib/host/device.h"
#include "provisioner-lib/host/mount_table.h"

enum { PARTITION_MOST = 256 }; /* numbers of partitions that Linux gives to a disk */

/* Partition `number` of the disk, from 1 on. PRECONDITION if there is none. A partition is closed
 * as a disk is. */
struct err *partition_find(const struct device_roots *roots, const struct device *disk,
                           unsigned number, struct device *ret) __attribute__((warn_unused_result));

/* PRECONDITION if what is staged at `path` is not partition `number` of a disk; 0: not a whole
 * disk. Success if nothing is, or a device that the kernel does not have any more. */
struct err *partition_check_staged(const struct device_roots *roots, const char *path, bool raw,
                                   unsigned number) __attribute__((warn_unused_result));

/* Calls `visit` with the disk and with each of its partitions, open for reading, until it fails. */
struct err *partition_visit(const struct device_roots *roots, const struct device *disk,
                            struct err *(*visit)(int fd, void *ctx), void *ctx)
    __attribute__((warn_unused_result));

/* Whether a device is this disk, or a partition of it. */
bool partition_is_of(const struct device_roots *roots, dev_t device, dev_t disk);
/* The newest mount of such a device's file system; `ret->target` is NULL if there is none. */
struct err *partition_find_mount(const struct device_roots *roots, dev_t disk,
                                 struct mount_entry *ret) __attribute__((warn_unused_result));
/* Whether there is one. */
struct err *partition_any_mounted(const struct device_roots *roots, dev_t disk, bool *ret_mounted)
    __attribute__((warn_unused_result));
