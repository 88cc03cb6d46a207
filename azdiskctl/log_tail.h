/* log_tail.h - the newest whole lines of a log that comes piece by piece.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buffer.h"

struct log_tail {
    struct buffer text;
    size_t most;
    uint64_t bytes; /* that have come */
};

/* Holds up to twice `most` bytes meanwhile. Call log_tail_fini. */
void log_tail_init(struct log_tail *tail, size_t most);
void log_tail_fini(struct log_tail *tail);
void log_tail_add(struct log_tail *tail, const char *data, size_t length);
/* Nothing more comes: `text` has the newest lines, of `most` bytes together, and no part of a line
 * whose beginning is not there, for it could not be seen that it is one of a secret. */
void log_tail_end(struct log_tail *tail);
