#include "lib/json/lenient.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "lib/json/parse.h"

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
    return json_parse_last(self, text, length, ret_json);
}
