/* log_cursor.h - up to where a container's log has been taken, for who reads on from there later.
 *
 * The API server begins a log only at a whole second (sinceTime), so that lines that were taken
 * come again. Of those, the ones before the latest time are known by their times, and the ones from
 * there on by how many they are, for they may be of one time, or not in order. Pure; all zero:
 * nothing has been taken.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_cursor {
    int64_t us;     /* the latest time of a line; 0: none had one */
    size_t n;       /* lines since the first of that time, itself included */
    size_t n_again; /* of these, how many have come again */
    bool is_behind; /* what comes may have been taken before */
    int64_t last;   /* the time of the line before, which one without a time has as well */
};

/* The log is opened anew, and what comes next begins no later than at the cursor. */
void log_cursor_reopen(struct log_cursor *cursor);
/* The next line, which has this time; false if it was taken before. A log that is read on brings
 * only new lines, also where their times are not in order. */
bool log_cursor_take(struct log_cursor *cursor, int64_t us);
/* Of two readings of one log, the cursor of the one that came further. */
void log_cursor_advance(struct log_cursor *cursor, const struct log_cursor *other);
