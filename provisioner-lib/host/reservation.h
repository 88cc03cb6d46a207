/* reservation.h - persistent reservations of a SCSI disk (SPC-3, 5.6), by which the disk itself
 * refuses the writes of a VM.
 *
 * A VM is known to the disk by the key that it has registered. With the one type that is used here,
 * Write Exclusive, the VM whose key holds the reservation writes, and all others only read.
 *
 * All calls block: for a thread pool.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

enum { RESERVATION_KEYS = 32, RESERVATION_WRITE_EXCLUSIVE = 1 };

struct reservation {
    uint32_t generation; /* changes with every change of a registration */
    uint64_t keys[RESERVATION_KEYS];
    size_t n_keys;
    bool held;
    uint64_t holder; /* key */
    unsigned type;
};

/* `ret_supported` is false, and nothing else is said, for a device without Write Exclusive. */
struct err *reservation_read(int fd, bool *ret_supported, struct reservation *ret)
    __attribute__((warn_unused_result));

/* They all may meet with somebody else's change, and then do nothing: whoever calls them reads
 * afterwards what has come of it. UNIMPLEMENTED if the device does not know the command. */

/* This VM's key from now on, whatever it was; 0 takes it away. */
struct err *reservation_register(int fd, uint64_t key) __attribute__((warn_unused_result));
struct err *reservation_take(int fd, uint64_t key) __attribute__((warn_unused_result));
struct err *reservation_release(int fd, uint64_t key) __attribute__((warn_unused_result));
/* Takes another's registration away, and the reservation if that held it. PREEMPT AND ABORT would
 * also end what that has under way; Azure does not list it among the actions of its disks, and the
 * SCSI target of Linux 6.1, with which this is tested, hangs in it. */
struct err *reservation_preempt(int fd, uint64_t key, uint64_t other)
    __attribute__((warn_unused_result));
