/* mount_point.h - the empty folders and files that mounts hide.
 *
 * All calls block: for a thread pool.
 */
#pragma once

#include "lib/base/err.h"

/* Success if it is there already; the folder above has to be. */
struct err *mount_point_make_folder(const char *path) __attribute__((warn_unused_result));
struct err *mount_point_make_file(const char *path) __attribute__((warn_unused_result));

/* Success if it is not there. An error if it is anything but an empty folder or file, because what
 * was written below a mount point while nothing was mounted is somebody's data. */
struct err *mount_point_remove(const char *path) __attribute__((warn_unused_result));
