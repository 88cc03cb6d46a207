#include "azdiskctl/whole_lines.h"

#include <stdlib.h>
#include <string.h>

static const char cut[] = "...";

void whole_lines_init(struct whole_lines *lines, size_t longest)
{
    lines->longest = longest;
    buffer_init(&lines->line, longest + strlen(cut));
}

void whole_lines_fini(struct whole_lines *lines)
{
    buffer_fini(&lines->line);
}

static void append(struct buffer *line, const char *text, size_t length)
{
    if (!buffer_append(line, text, length))
        abort(); /* it has room for that */
}

/* Part of a line; more than the longest stands for all that is left out. */
static void keep(struct whole_lines *lines, const char *part, size_t length)
{
    struct buffer *line = &lines->line;

    if (line->length > lines->longest)
        return;
    size_t room = lines->longest - line->length;
    append(line, part, length < room ? length : room);
    if (length > room)
        append(line, cut, strlen(cut));
}

static void take_line(struct whole_lines *lines, line_fn *take, void *ctx)
{
    take(ctx, lines->line.data ? lines->line.data : "", lines->line.length);
    buffer_consume(&lines->line, lines->line.length);
}

void whole_lines_add(struct whole_lines *lines, const char *piece, size_t length, line_fn *take,
                     void *ctx)
{
    const char *end = piece + length, *newline;

    for (; (newline = memchr(piece, '\n', (size_t)(end - piece))); piece = newline + 1) {
        keep(lines, piece, (size_t)(newline - piece));
        take_line(lines, take, ctx);
    }
    keep(lines, piece, (size_t)(end - piece));
}

void whole_lines_end(struct whole_lines *lines, line_fn *take, void *ctx)
{
    if (lines->line.length)
        take_line(lines, take, ctx);
}
