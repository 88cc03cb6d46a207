/* complaint.h - a warning of what others may bring about as often as they like: strangers by what
 * they send, pods by being many. One line in ten seconds, of the first of them.
 *
 * Owner: whoever warns; all zero: nobody was warned yet. Loop's thread.
 */
#pragma once

#include "lib/rt/loop.h"

struct complaint {
    uint64_t next; /* loop_now() time; private */
};

/* Whether it is time for one, which the caller logs then. */
bool complaint_is_due(struct complaint *complaint, const struct loop *loop);
