#include "lib/json/parse.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/secret.h"
#include "lib/rt/loop.h"

struct parse {
    const char *text;
    size_t length;
    size_t flags; /* of jansson, beside the usual ones */
    json_t *json;
    struct err *err;
};

/* What a task's stack has room for beside all else. */
enum { SHALLOW_DEPTH = 16 };

/* How deep it is nested, JSON_MAX_DEPTH + 1 at most. Brackets count, except in strings. */
static unsigned depth_of(const char *text, size_t length)
{
    unsigned depth = 0, deepest = 0;
    bool in_string = false;

    for (size_t i = 0; i < length && deepest <= JSON_MAX_DEPTH; i++) {
        if (text[i] == '"')
            in_string = !in_string;
        else if (in_string)
            i += text[i] == '\\';
        else if (text[i] == '[' || text[i] == '{')
            depth++;
        else if (depth > 0 && (text[i] == ']' || text[i] == '}'))
            depth--;
        if (depth > deepest)
            deepest = depth;
    }
    return deepest;
}

/* Anybody may write \u0000 into an annotation, so it must not spoil the list that it is in; as C
 * strings such texts end there. */
static struct err *load(const char *text, size_t length, size_t flags, json_t **ret_json)
{
    json_error_t error;
    json_t *json = json_loadb(text, length, flags | JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);

    if (!json)
        return err_new(ERR_INVALID, "not JSON: line %d, column %d: %s", error.line, error.column,
                       error.text);
    *ret_json = json;
    return NULL;
}

static struct err *too_deep(void)
{
    return err_new(ERR_INVALID, "not usable JSON: nested deeper than %d levels", JSON_MAX_DEPTH);
}

struct err *json_parse_here(const char *text, size_t length, json_t **ret_json)
{
    return depth_of(text, length) > JSON_MAX_DEPTH
               ? too_deep()
               : load(text, length, JSON_REJECT_DUPLICATES, ret_json);
}

static void parse(void *arg)
{
    struct parse *parse = arg;

    parse->err = load(parse->text, parse->length, parse->flags, &parse->json);
}

static struct err *parse_with(struct task *self, const char *text, size_t length, size_t flags,
                              json_t **ret_json)
{
    struct parse call = {.text = text, .length = length, .flags = flags};
    unsigned depth = depth_of(text, length);

    if (depth > JSON_MAX_DEPTH)
        return too_deep();
    if (depth <= SHALLOW_DEPTH)
        return load(text, length, flags, ret_json);
    loop_call(self, parse, &call);
    TRY(call.err);
    *ret_json = call.json;
    return NULL;
}

struct err *json_parse(struct task *self, const char *text, size_t length, json_t **ret_json)
{
    return parse_with(self, text, length, JSON_REJECT_DUPLICATES, ret_json);
}

/* ---- leniently ---- */

static size_t string_length(const char *text, size_t left)
{
    size_t n = 1;

    while (n < left && text[n] != '"')
        n += text[n] == '\\' ? 2 : 1;
    return n < left ? n + 1 : left;
}

static size_t number_length(const char *text, size_t left)
{
    size_t n = 1;

    while (n < left && (isalnum((unsigned char)text[n]) || strchr("+-.", text[n])))
        n++;
    return n;
}

/* Of a string, a number or a word, or one byte. */
static size_t token_length(const char *text, size_t left)
{
    if (*text == '"')
        return string_length(text, left);
    return isalnum((unsigned char)*text) || *text == '-' ? number_length(text, left) : 1;
}

/* More digits than 64 bits have in any case. */
static bool is_long_integer(const char *token, size_t length)
{
    enum { MOST_DIGITS = 18 };
    bool negative = *token == '-';

    if (length - negative <= MOST_DIGITS)
        return false;
    for (size_t i = negative; i < length; i++)
        if (!isdigit((unsigned char)token[i]))
            return false;
    return true;
}

static void soften(char *text, size_t length)
{
    unsigned depth = 0;

    for (size_t i = 0, n; i < length; i += n) {
        char first = text[i];

        n = token_length(text + i, length - i);
        if (depth > 0 && (first == ']' || first == '}'))
            depth--;
        if (depth >= JSON_MAX_DEPTH)
            memset(text + i, ' ', n);
        else if (is_long_integer(text + i, n))
            memcpy(text + i + n - 2, "e2", 2);
        depth += first == '[' || first == '{';
    }
}

struct err *json_parse_leniently(struct task *self, char *text, size_t length, json_t **ret_json)
{
    struct err *err = json_parse(self, text, length, ret_json);

    if (!err)
        return NULL;
    err_free(err);
    soften(text, length);
    return parse_with(self, text, length, 0, ret_json);
}

char *json_to_text(const json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);

    if (!text)
        abort();
    return text;
}

void json_clear_freed(void)
{
    json_set_alloc_funcs(malloc, secret_free_block);
}
