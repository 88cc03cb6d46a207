/* usage.h - how full a volume is where it is staged or published, and whether it is well.
 *
 * What is at the path has to be the volume's: the device at its LUN, or the one that was there when
 * it was looked at before. Only what the kernel has in memory is asked for, so a look is cheap; and
 * it holds nothing at the path, so that unmounting there does not fail while a look hangs. (The
 * file system lives as long as the look: who needs it gone waits for its end.)
 *
 * Blocks, on a disk that is dead perhaps for ever: for an errand.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "provisioner-lib/host/device.h"

struct usage_request {
    struct device_roots roots;
    const char *path;
    unsigned lun;
    dev_t known; /* the volume's device, as seen before; 0: none */
};

struct usage_amount {
    uint64_t total, used, available;
};

struct volume_usage {
    dev_t device;     /* proven to be the volume's; else 0 */
    bool raw;         /* no file system: of the bytes only the total, and no inodes */
    bool has_amounts; /* there is nobody to ask where the disk is gone */
    struct usage_amount bytes, inodes;
    char *trouble; /* NULL: it is well */
};

void usage_fini(struct volume_usage *usage);

/* NOT_FOUND if nothing is mounted at the path, or something else than the volume. */
struct err *usage_look(const struct usage_request *request, struct volume_usage *ret)
    __attribute__((warn_unused_result));
