#include "lib/json/parse.h"

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

struct err *json_parse_last(struct task *self, const char *text, size_t length, json_t **ret_json)
{
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
