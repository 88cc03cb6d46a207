#include "lib/json/cursor.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* ---- tokens: each moves `at` past what it has read; NULL if that is not there ---- */

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *at, const char *end)
{
    const char *start = at;

    while (at < end && is_digit(*at))
        at++;
    return at > start ? at : NULL;
}

static const char *skip_number(const char *at, const char *end)
{
    if (at < end && *at == '-')
        at++;
    if (at < end && *at == '0')
        at++;
    else if (!(at = skip_digits(at, end)))
        return NULL;
    if (at < end && *at == '.' && !(at = skip_digits(at + 1, end)))
        return NULL;
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        at = skip_digits(at, end);
    }
    return at;
}

static bool is_hex(char c)
{
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* What follows a backslash. */
static const char *skip_escape(const char *at, const char *end)
{
    if (at < end && *at == 'u') {
        for (int i = 0; i < 4; i++)
            if (++at >= end || !is_hex(*at))
                return NULL;
        return at + 1;
    }
    return at < end && *at && strchr("\"\\/bfnrt", *at) ? at + 1 : NULL;
}

/* Of eight characters, the first in the lowest byte: the high bit of those that do not stand for
 * themselves in a string (a quote, a backslash, a control character). Bits above the lowest one
 * that is set may be wrong. */
static uint64_t find_special(uint64_t word)
{
    const uint64_t each = 0x0101010101010101u, high = each * 0x80;
    uint64_t quote = word ^ each * '"', backslash = word ^ each * '\\';

    return (((quote - each) & ~quote) | ((backslash - each) & ~backslash) |
            ((word - each * 0x20) & ~word)) &
           high;
}

/* To the next character that does not stand for itself, or to the end. */
static const char *skip_plain(const char *at, const char *end)
{
    uint64_t word;

    for (; (size_t)(end - at) >= sizeof word; at += sizeof word) {
        memcpy(&word, at, sizeof word);
        uint64_t special = find_special(le64toh(word));
        if (special)
            return at + __builtin_ctzll(special) / 8;
    }
    while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= 0x20)
        at++;
    return at;
}

static const char *skip_string(const char *at, const char *end)
{
    if (at >= end || *at != '"')
        return NULL;
    at = skip_plain(at + 1, end);
    while (at && at < end && *at == '\\') {
        at = skip_escape(at + 1, end);
        at = at ? skip_plain(at, end) : NULL;
    }
    return at && at < end && *at == '"' ? at + 1 : NULL;
}

static const char *skip_word(const char *at, const char *end, const char *word)
{
    size_t length = strlen(word);

    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0 ? at + length : NULL;
}

static const char *skip_scalar(const char *at, const char *end)
{
    switch (*at) {
    case '"':
        return skip_string(at, end);
    case 't':
        return skip_word(at, end, "true");
    case 'f':
        return skip_word(at, end, "false");
    case 'n':
        return skip_word(at, end, "null");
    default:
        return skip_number(at, end);
    }
}

/* ---- values ---- */

/* Where in the nest of objects and arrays the scanner is. */
struct nest {
    unsigned depth;
    bool is_object[JSON_CURSOR_MAX_DEPTH];
};

/* A member's key and its colon, with space around both. */
static const char *skip_key(const char *at, const char *end)
{
    at = skip_string(skip_space(at, end), end);
    if (!at)
        return NULL;
    at = skip_space(at, end);
    return at < end && *at == ':' ? skip_space(at + 1, end) : NULL;
}

/* From a value's first character to just behind it, or, if it opens an object or array, to the
 * first value inside. `ret_complete` tells which. */
static const char *enter(struct nest *nest, const char *at, const char *end, bool *ret_complete)
{
    bool object = *at == '{';

    *ret_complete = true;
    if (!object && *at != '[')
        return skip_scalar(at, end);
    at = skip_space(at + 1, end);
    if (at < end && *at == (object ? '}' : ']'))
        return at + 1;
    if (nest->depth == JSON_CURSOR_MAX_DEPTH)
        return NULL;
    nest->is_object[nest->depth++] = object;
    *ret_complete = false;
    return object ? skip_key(at, end) : at;
}

/* From behind a value to the next one of its object or array, closing what ends there. */
static const char *leave(struct nest *nest, const char *at, const char *end)
{
    while (nest->depth > 0) {
        bool object = nest->is_object[nest->depth - 1];

        at = skip_space(at, end);
        if (at < end && *at == ',')
            return object ? skip_key(at + 1, end) : skip_space(at + 1, end);
        if (at >= end || *at != (object ? '}' : ']'))
            return NULL;
        at++;
        nest->depth--;
    }
    return at;
}

/* `at` is at the value's first character. At a fault, `*at` stays at the last value that could
 * still be read. */
static bool skip_value(const char **at, const char *end)
{
    struct nest nest;

    nest.depth = 0; /* and nothing of the rest, which is many times larger than most values */
    do {
        bool complete;
        const char *next = *at < end ? enter(&nest, *at, end, &complete) : NULL;

        if (next && complete)
            next = leave(&nest, next, end);
        if (!next)
            return false;
        *at = next;
    } while (nest.depth > 0);
    return true;
}

static struct err *fault_after(size_t place)
{
    return err_new(ERR_INVALID, "not JSON: invalid, truncated or nested too deeply after byte %zu",
                   place);
}

struct err *json_validate(const char *text, size_t length, struct json_piece *ret)
{
    const char *end = text + length, *start = skip_space(text, end), *at = start;
    bool valid = skip_value(&at, end);

    if (!valid || skip_space(at, end) != end)
        return fault_after((size_t)(at - text));
    *ret = (struct json_piece){start, (size_t)(at - start)};
    return NULL;
}

/* `*at` is behind the opening bracket of an object, and at its end behind the closing one. */
static bool skip_members(const char **at, const char *end, json_member_fn *fn, void *ctx)
{
    const char *start = skip_space(*at, end), *next;

    if (start < end && *start == '}') {
        *at = start + 1;
        return true;
    }
    for (;; start = next + 1) {
        struct json_piece key = {skip_space(start, end), 0}, value;
        const char *colon = skip_string(key.text, end);

        if (!colon || !(value.text = skip_key(start, end)))
            return false;
        *at = value.text;
        if (!skip_value(at, end))
            return false;
        key.length = (size_t)(colon - key.text);
        value.length = (size_t)(*at - value.text);
        fn(ctx, &key, &value);
        next = skip_space(*at, end);
        if (next < end && *next == '}') {
            *at = next + 1;
            return true;
        }
        if (next >= end || *next != ',')
            return false;
    }
}

struct err *json_validate_members(const char *text, size_t length, json_member_fn *fn, void *ctx)
{
    const char *end = text + length, *start = skip_space(text, end), *at = start;
    bool object = at < end && *at == '{';

    at += object;
    bool valid = object ? skip_members(&at, end, fn, ctx) : skip_value(&at, end);
    return valid && skip_space(at, end) == end ? NULL : fault_after((size_t)(at - text));
}

/* ---- pieces and cursors: the text is known to be right ---- */

bool json_piece_is_object(const struct json_piece *piece)
{
    return piece->text[0] == '{';
}

bool json_piece_is_array(const struct json_piece *piece)
{
    return piece->text[0] == '[';
}

bool json_piece_is_string(const struct json_piece *piece)
{
    return piece->text[0] == '"';
}

struct json_cursor json_cursor_into(const struct json_piece *piece)
{
    if (!json_piece_is_object(piece) && !json_piece_is_array(piece))
        return (struct json_cursor){NULL, NULL};
    return (struct json_cursor){piece->text + 1, piece->text + piece->length - 1};
}

/* The next value, behind the comma if there is one. */
static bool next_piece(struct json_cursor *cursor, struct json_piece *ret)
{
    const char *start = skip_space(cursor->at, cursor->end);

    if (start < cursor->end && *start == ',')
        start = skip_space(start + 1, cursor->end);
    cursor->at = start;
    if (start == cursor->end || !skip_value(&cursor->at, cursor->end))
        return false;
    *ret = (struct json_piece){start, (size_t)(cursor->at - start)};
    return true;
}

bool json_next_element(struct json_cursor *cursor, struct json_piece *ret)
{
    return next_piece(cursor, ret);
}

bool json_next_member(struct json_cursor *cursor, struct json_piece *ret_key,
                      struct json_piece *ret_value)
{
    if (!next_piece(cursor, ret_key))
        return false;
    cursor->at = skip_space(cursor->at, cursor->end) + 1; /* the colon */
    return next_piece(cursor, ret_value);
}

bool json_find_member(const struct json_piece *object, const char *name, struct json_piece *ret)
{
    struct json_cursor cursor = json_cursor_into(object);
    struct json_piece key, value;
    size_t length = strlen(name);

    if (!json_piece_is_object(object))
        return false;
    while (json_next_member(&cursor, &key, &value))
        if (key.length == length + 2 && memcmp(key.text + 1, name, length) == 0) {
            *ret = value;
            return true;
        }
    return false;
}
