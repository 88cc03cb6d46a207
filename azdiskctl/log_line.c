#include "azdiskctl/log_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "azdiskctl/document.h"
#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/timestamp.h"
#include "lib/base/utf8.h"

void log_names_add(struct log_names *names, const char *name)
{
    for (size_t i = 0; name && i < names->n; i++)
        if (strcasecmp(names->names[i], name) == 0)
            return;
    if (name && *name && names->n < COUNT_OF(names->names))
        names->names[names->n++] = name;
}

/* Goes on before a name: "my-pvc-1" is another one. */
static bool joins_before(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_';
}

bool log_line_mentions(const char *line, size_t length, const char *name)
{
    size_t wanted = strlen(name);

    for (size_t at = 0; at + wanted <= length; at++)
        if (strncasecmp(line + at, name, wanted) == 0 && !(at && joins_before(line[at - 1])) &&
            !(at + wanted < length && isalnum((unsigned char)line[at + wanted])))
            return true;
    return false;
}

static bool is_wanted(const char *line, size_t length, const struct log_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        if (log_line_mentions(line, length, names->names[i]))
            return true;
    return names->n == 0;
}

/* The length of the time at the beginning of a line with the blank behind it; 0 if there is none.
 */
static size_t read_time(const char *line, size_t length, int64_t *us)
{
    const char *blank =
        memchr(line, ' ', length < 2 * TIMESTAMP_SIZE ? length : 2 * TIMESTAMP_SIZE);

    if (!blank)
        return 0;
    CLEANUP(freep) char *text = mem_strndup(line, (size_t)(blank - line));
    int64_t read = timestamp_noted(text);
    if (!read)
        return 0;
    *us = read;
    return (size_t)(blank - line) + 1;
}

/* What is no text in a log is '?', and cuts nothing off. */
static char *text_copy(const char *bytes, size_t length)
{
    char *text = mem_alloc(length + 1);

    for (size_t i = 0; i < length; i++)
        text[i] = bytes[i] ? bytes[i] : '?';
    utf8_repair(text);
    return text;
}

static void add(struct log_lines *lines, const json_t *source, int64_t us, const char *text,
                size_t length)
{
    struct log_line line = {
        .us = us, .order = lines->n, .source = source, .text = text_copy(text, length)};

    ARRAY_ADD(lines->items, lines->n) = line;
    lines->bytes += length;
}

void log_lines_add(struct log_lines *lines, const json_t *source, const char *text, size_t length,
                   const struct log_names *names, struct log_cursor *cursor)
{
    const char *end = text + length;
    int64_t us = cursor->last;

    for (const char *line = text; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        size_t whole = (size_t)((newline ? newline : end) - line);
        size_t time = read_time(line, whole, &us);

        if (log_cursor_take(cursor, us) && is_wanted(line + time, whole - time, names))
            add(lines, source, us, line + time, whole - time);
        line += whole + 1;
    }
}

static int compare(const void *a, const void *b)
{
    const struct log_line *one = a, *other = b;

    if (one->us != other->us)
        return one->us < other->us ? -1 : 1;
    return one->order < other->order ? -1 : 1;
}

static json_t *line_json(const struct log_line *line)
{
    char time[TIMESTAMP_SIZE];

    timestamp_format_micro(line->us, time);
    return json_pack("{s:s, s:s, s:s, s:b, s:s}", "time", time, "pod", text_of(line->source, "pod"),
                     "container", text_of(line->source, "container"), "previous",
                     json_is_true(json_object_get(line->source, "previous")), "text", line->text);
}

json_t *log_lines_json(struct log_lines *lines)
{
    json_t *list = json_array();

    if (lines->n)
        qsort(lines->items, lines->n, sizeof *lines->items, compare);
    for (size_t i = 0; i < lines->n; i++)
        json_array_append_new(list, line_json(&lines->items[i]));
    return list;
}

void log_lines_fini(struct log_lines *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        free(lines->items[i].text);
    free(lines->items);
    *lines = (struct log_lines){0};
}
