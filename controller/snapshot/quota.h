/* quota.h - how many snapshots of one disk Azure allows.
 *
 * It refuses more, without a word on when the next one may come. From the records that is known, as
 * far as this driver has made them: the request then waits here, and costs no call.
 */
#pragma once

#include "controller/controller.h"

enum {
    SNAPSHOTS_MOST = 500, /* incremental ones of a disk */
    SNAPSHOTS_BURST = 7,  /* of these, in SNAPSHOTS_BURST_MS */
    SNAPSHOTS_BURST_MS = 5 * 60 * 1000,
};

/* A pure function: when the next one may be made, by the times of those that there are; in
 * microseconds, `now_us` if it may be now. */
int64_t snapshot_next_allowed_us(const int64_t *taken_us, size_t n, int64_t now_us);

/* THROTTLED until the next snapshot of the disk may be made; EXHAUSTED if it has too many. */
struct err *snapshot_check_quota(const struct controller *controller, const char *disk_id)
    __attribute__((warn_unused_result));
