/* in_flight.h - at most one operation for each volume at a time.
 *
 * An orchestrator may repeat a call while the first one still runs. The second gets BUSY (ABORTED
 * to a CSI caller), as the CSI specification suggests, and its caller tries again later.
 */
#pragma once

#include "lib/base/err.h"
#include "lib/base/string_set.h"

struct in_flight {
    struct string_set keys;
};

/* BUSY if an operation for `text` is under way; else it is now, until in_flight_end. */
struct err *in_flight_begin(struct in_flight *set, const char *text)
    __attribute__((warn_unused_result));
void in_flight_end(struct in_flight *set, const char *text);
