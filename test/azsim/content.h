/* content.h - what is on disks and snapshots: sparse files, one for each, by unique id.
 *
 * They may be hundreds of GiB of which little is written, so that a copy goes from data to data; on
 * a file system with reflinks it takes no time. Any thread.
 */
#pragma once

#include <stdint.h>

#include "lib/base/err.h"

/* The file, with at least this size. */
struct err *content_make(const char *path, int64_t size) __attribute__((warn_unused_result));
/* A new file with what the other one holds now; nothing if that does not exist, as that of a disk
 * that was never attached. */
struct err *content_copy(const char *from, const char *to) __attribute__((warn_unused_result));
