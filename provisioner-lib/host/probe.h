/* probe.h - what is on a device, read from the device itself.
 *
 * Blocks: for a thread pool.
 */
#pragma once

#include "provisioner-lib/host/proof.h"

/* `fd` is the open device. Nothing is written. */
struct err *probe_device(int fd, struct disk_observation *ret) __attribute__((warn_unused_result));
