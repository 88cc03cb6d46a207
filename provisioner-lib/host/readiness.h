/* readiness.h - whether a disk that is on this machine, but that nobody uses yet, could be used.
 *
 * A disk can be listed and dead. So what is at the LUN is opened, asked for its size, and read: the
 * first 4 KiB, past the page cache, which would answer for a disk that does not. Nothing is
 * written, and a disk that another VM has reserved for writing can be read.
 *
 * Blocks, on a disk that is dead perhaps for ever: for an errand.
 */
#pragma once

#include <stdint.h>

#include "provisioner-lib/host/device.h"

struct readiness_request {
    struct device_roots roots;
    unsigned lun;
    uint64_t size; /* that it should have; the kernel is asked again if it has another */
};

struct readiness {
    dev_t device; /* at the LUN; 0: none was found */
    uint64_t size;
};

/* NOT_FOUND if there is no disk, or how it failed. `ret` says as much as was seen in any case. */
struct err *readiness_look(const struct readiness_request *request, struct readiness *ret)
    __attribute__((warn_unused_result));
