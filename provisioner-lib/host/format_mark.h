/* format_mark.h - how a formatting that was cut off is told from somebody's data.
 *
 * mkfs takes a while, and its process may be killed at any write. What it leaves then is neither
 * empty nor a file system, and would be refused for ever. So a mark with the volume's UUID is
 * written to the empty device first, where neither mkfs writes (512 KiB before the end: they use
 * the last 128 KiB), and taken away when mkfs has succeeded. As long as it is there, nothing on the
 * device has ever been mounted.
 *
 * All calls block: for a thread pool.
 */
#pragma once

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/rt/random.h"

/* The UUID of the mark, "" if there is none. `fd` is the open device, of `size` bytes. */
struct err *format_mark_read(int fd, uint64_t size, char ret_uuid[UUID_SIZE])
    __attribute__((warn_unused_result));

/* Sets the mark on a device that nobody else uses, and clears away the beginnings of an earlier
 * attempt. On stable storage when it returns. PRECONDITION, and nothing is written, if the device
 * is not, or no more, one that may be formatted (proof.h): it is read anew. */
struct err *format_mark_set(const char *device, const char *uuid)
    __attribute__((warn_unused_result));

/* Puts what mkfs wrote on stable storage, then takes the mark away. */
struct err *format_mark_clear(const char *device, const char *uuid)
    __attribute__((warn_unused_result));
