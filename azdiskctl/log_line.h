/* log_line.h - lines of several containers' logs, in the order of their times.
 *
 * Pure. Owner: whoever has the struct; all zero has no lines.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "azdiskctl/log_cursor.h"

struct log_lines {
    struct log_line {
        int64_t us;
        size_t order;         /* in which it came, for equal times */
        const json_t *source; /* log_source.h; borrowed */
        char *text;
    } * items;
    size_t n;
    size_t bytes; /* of the texts */
};

/* What a line is to have: one of these names. None: each line is wanted. */
struct log_names {
    const char *names[4]; /* borrowed */
    size_t n;
};

/* NULL and a name that is there already are left out. */
void log_names_add(struct log_names *names, const char *name);

/* Of a log whose lines begin with their times, as the API server writes them (timestamps=true), the
 * lines that are wanted and that the cursor has not seen. One without a time has that of the line
 * before it. */
void log_lines_add(struct log_lines *lines, const json_t *source, const char *text, size_t length,
                   const struct log_names *names, struct log_cursor *cursor);
/* [{"time", "pod", "container", "previous", "text"}], the oldest first. */
json_t *log_lines_json(struct log_lines *lines) __attribute__((warn_unused_result));
void log_lines_fini(struct log_lines *lines);

/* Whatever the case, and as a whole: pvc-1 is not in "pvc-10", but in the name of its attachment to
 * a node, "pvc-1-node-a-attachment". */
bool log_line_mentions(const char *line, size_t length, const char *name);
