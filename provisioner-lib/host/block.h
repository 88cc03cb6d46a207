/* block.h - block devices by descriptor: open, claim, size, read, caches.
 *
 * All calls may block for as long as the device does: for a thread pool.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/err.h"

/* For reading. NOT_FOUND if there is no such device. */
struct err *block_open(const char *path, int *ret_fd) __attribute__((warn_unused_result));

/* A device that nobody else has mounted or claimed, open for writing; a program such as mkfs claims
 * its device, too. */
struct block_claim {
    const char *path; /* the caller's */
    int fd;           /* -1: none */
};

#define BLOCK_CLAIM_NONE ((struct block_claim){.fd = -1})

/* NOT_FOUND if there is no such device, PRECONDITION if it is in use. */
struct err *block_claim(const char *path, struct block_claim *ret)
    __attribute__((warn_unused_result));
/* The same for reading: udev does not look at the device anew when that is over. */
struct err *block_hold(const char *path, struct block_claim *ret)
    __attribute__((warn_unused_result));
/* Whoever comes next, a program or a mount, finds the device free. For CLEANUP. */
void block_claim_end(struct block_claim *claim);

struct err *block_size(int fd, uint64_t *ret_bytes) __attribute__((warn_unused_result));
/* Exactly `length` bytes. */
struct err *block_read(int fd, uint64_t offset, void *data, size_t length)
    __attribute__((warn_unused_result));
/* The same. It is on stable storage after block_flush. */
struct err *block_write(int fd, uint64_t offset, const void *data, size_t length)
    __attribute__((warn_unused_result));
/* Writes what is waiting and forgets what was read. */
struct err *block_drop_caches(int fd) __attribute__((warn_unused_result));
/* Has the kernel read the disk's partition table anew, unless a partition is in use. */
void block_read_partitions(int fd);
/* Writes what is waiting, and returns when it is on stable storage. */
struct err *block_flush(int fd) __attribute__((warn_unused_result));
/* For everybody on this machine who opens it from now on. */
struct err *block_set_read_only(int fd, bool read_only) __attribute__((warn_unused_result));
struct err *block_is_read_only(int fd, bool *ret_read_only) __attribute__((warn_unused_result));

/* For CLEANUP; -1 is no descriptor. */
void closep(int *fd);
