/* cursor.h - finds the few wanted values in a large JSON document, without building the rest.
 *
 * A scheduler may send full Node objects, megabytes of them, of which only the names matter. Here a
 * value is a piece of the document's text: json_validate checks the whole document once, and the
 * cursors hand out its members and elements as further pieces, to be walked, passed on as they are,
 * or given to a parser (parse.h). Nothing is allocated, nothing recurses, so tasks may call it.
 *
 * Bounds: JSON_CURSOR_MAX_DEPTH levels. Text that is skipped is checked for JSON's grammar, not for
 * UTF-8. Pieces point into the document and live as long as it does. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"

enum { JSON_CURSOR_MAX_DEPTH = 64 };

/* The text of one value, without space around it. */
struct json_piece {
    const char *text;
    size_t length;
};

/* INVALID, with the place, unless the text is one JSON value. */
struct err *json_validate(const char *text, size_t length, struct json_piece *ret)
    __attribute__((warn_unused_result));

/* The same, and hands out the members of the outermost object, if the text is one, on the way:
 * those of a long document without going through it again. What was handed out counts only if the
 * text turns out to be right. */
typedef void json_member_fn(void *ctx, const struct json_piece *key,
                            const struct json_piece *value);
struct err *json_validate_members(const char *text, size_t length, json_member_fn *fn, void *ctx)
    __attribute__((warn_unused_result));

bool json_piece_is_object(const struct json_piece *piece);
bool json_piece_is_array(const struct json_piece *piece);
bool json_piece_is_string(const struct json_piece *piece);

/* ---- cursors through an object's members or an array's elements, in their order ---- */

struct json_cursor {
    const char *at, *end;
};

/* `piece` is an object or an array that json_validate has checked; any other value has nothing
 * inside.
 */
struct json_cursor json_cursor_into(const struct json_piece *piece);
/* False at the end. */
bool json_next_member(struct json_cursor *cursor, struct json_piece *ret_key,
                      struct json_piece *ret_value);
bool json_next_element(struct json_cursor *cursor, struct json_piece *ret);

/* The value of a member; `name` as it is written, without quotes. */
bool json_find_member(const struct json_piece *object, const char *name, struct json_piece *ret);
