/* whole_lines.h - the lines of a text that comes piece by piece.
 */
#pragma once

#include "lib/base/buffer.h"

struct whole_lines {
    struct buffer line; /* whose end has not come */
    size_t longest;
};

typedef void line_fn(void *ctx, const char *line, size_t length);

/* Lines have `longest` bytes at most: of a longer one, the beginning is taken, and "..." behind it.
 * Call whole_lines_fini. */
void whole_lines_init(struct whole_lines *lines, size_t longest);
void whole_lines_fini(struct whole_lines *lines);
/* take(ctx, line) for each line that ends in the piece, without its line break. */
void whole_lines_add(struct whole_lines *lines, const char *piece, size_t length, line_fn *take,
                     void *ctx);
/* Nothing more comes: the same for a last line without a line break. */
void whole_lines_end(struct whole_lines *lines, line_fn *take, void *ctx);
