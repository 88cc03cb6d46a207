/* basic_profile.h - perfProfile basic: how a disk's device is to be set for the performance that
 * the disk has, so that requests are neither too small for its throughput nor wait in a queue that
 * is longer than its latency needs.
 *
 * A pure function of the disk's kind and size. What the VM allows is not taken into account,
 * because no node knows it: where that is less than what the disk can do, the queue is longer than
 * it need be.
 *
 * Source: the formulas, and the latencies in them, are those of the Azure Disk CSI driver; the
 * performance of each size is that of Azure's documentation of disk types.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct basic_profile {
    unsigned request_kib; /* of the largest request */
    unsigned queue_depth; /* requests at once */
};

/* False if disks of this kind get no profile: their performance is not set by their size, or is
 * that of a spinning disk. Names are not case-sensitive. */
bool basic_profile_of(const char *sku, int64_t size_gib, struct basic_profile *ret);
bool basic_profile_applies(const char *sku);
