/* filesystem_uuid.h - gives a file system another UUID: a disk that was copied from another one
 * carries its origin's.
 *
 * The tools for this (tune2fs -U, xfs_admin -U) are not used, because they must not be cut off.
 * tune2fs writes the superblock in pieces, and what is left between two of them has a wrong
 * checksum. xfs_admin writes the whole log anew first, and what is left then cannot be mounted
 * until xfs_repair has thrown the log away. Here everything that has to change is changed by
 * writes of single sectors (ext4: of one superblock), in an order in which the file system can be
 * mounted after each, and the primary superblock is written last: whoever looks finds a whole file
 * system, either with the former UUID or with the new one, and can do the same again.
 *
 * The device is not mounted, and its journal has been replayed: INTERNAL if it has not, or if the
 * file system is not one that can be changed so; nothing is written then. The new UUID is on
 * stable storage on return. Blocks: for a thread pool.
 */
#pragma once

#include "lib/base/err.h"

/* `fd` is the open device, for writing. */
struct err *ext4_uuid_set(int fd, const char *uuid) __attribute__((warn_unused_result));
struct err *xfs_uuid_set(int fd, const char *uuid) __attribute__((warn_unused_result));
