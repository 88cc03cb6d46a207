/* duration.h - lengths of time as Go programs spell them: "300ms", "5m", "1h30m". Any thread.
 */
#pragma once

#include <stdint.h>

#include "lib/base/err.h"

enum {
    DURATION_SIZE = 32,           /* of the text, its NUL included */
    DURATION_MAX_HOURS = 2562047, /* what a Go program can hold */
};

/* Milliseconds, rounded. Units ms, s, m, h; fractions such as "1.5h" are allowed, a number without
 * a unit is not (except 0). */
struct err *duration_parse(const char *text, uint64_t *ret_ms) __attribute__((warn_unused_result));
void duration_format(uint64_t ms, char text[DURATION_SIZE]);
