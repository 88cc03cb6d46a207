/* filesystem_state.h - what a file system on a device says of its own state: whether mounting it is
 * all that is to be done, or whether it has to be checked before.
 *
 * A journal needs no check: the kernel replays it when it mounts the file system, faster than
 * e2fsck, and without its memory. A check is due only for errors that the kernel has found and
 * noted, and for a file system without a journal that was not unmounted.
 *
 * Of ext4 this is in the superblock, which is read here: the kernel's own header of it is not among
 * those for programs, so its layout is that of libext2fs's header. The library itself is not used,
 * because it refuses what it does not know (features newer than itself) and opens the device once
 * more by its name, all for four fields.
 *
 * Blocks: for a thread pool.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

struct filesystem_state {
    bool mounted;
    bool has_journal_to_replay; /* which mounting it does, even read-only; true if nobody knows */
    bool has_errors;            /* noted by the kernel */
    bool needs_check;           /* before it is mounted, if for writing */
    uint64_t check_memory;      /* bytes that a check is expected to need at most */
};

/* How large the file system on an open device is. INTERNAL if it carries none of the kind. */
struct err *ext4_size_read(int fd, uint64_t *ret_bytes) __attribute__((warn_unused_result));
struct err *xfs_size_read(int fd, uint64_t *ret_bytes) __attribute__((warn_unused_result));

/* `fd` is the open device, which carries ext4 or one of its forerunners, ext2 and ext3. INTERNAL if
 * it does not. */
struct err *ext4_state_read(int fd, struct filesystem_state *ret)
    __attribute__((warn_unused_result));
