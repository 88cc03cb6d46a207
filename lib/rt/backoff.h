/* backoff.h - pauses between attempts, ever longer, with some chance in them.
 */
#pragma once

#include <stdint.h>

#include "lib/rt/random.h"

struct backoff {
    uint64_t least_ms, most_ms;
    unsigned attempts; /* so far */
};

/* The next pause: least, twice that, ... up to most, and up to half as much again by chance, so
 * that those who failed together do not come back together. */
static inline uint64_t backoff_next(struct backoff *backoff, struct random *random)
{
    uint64_t pause = backoff->least_ms;

    for (unsigned i = 0; i < backoff->attempts && pause < backoff->most_ms; i++)
        pause *= 2;
    backoff->attempts++;
    if (pause > backoff->most_ms)
        pause = backoff->most_ms;
    return pause + random_below(random, pause / 2 + 1);
}

static inline void backoff_reset(struct backoff *backoff)
{
    backoff->attempts = 0;
}
