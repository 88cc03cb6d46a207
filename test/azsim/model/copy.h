/* copy.h - data that is copied behind a resource which exists already.
 *
 * Disks and snapshots of PremiumV2 and Ultra, and snapshots that are copied from another region,
 * are there before their data is: completionPercent says how much of it. Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct copy {
    int64_t start_us, end_us; /* 0: there is nothing to copy */
    int64_t stopped_us;       /* it failed then; 0: it did not */
};

double copy_percent(const struct copy *copy, int64_t now_us);
bool copy_is_done(const struct copy *copy, int64_t now_us);

/* As part of a record. */
json_t *copy_json(const struct copy *copy);
struct copy copy_from_json(const json_t *json);
