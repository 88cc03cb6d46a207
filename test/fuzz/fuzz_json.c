/* JSON: what is written of a document reads as the same document, and the cursor through its text
 * (cursor.h) finds what the parser finds. */
#include "lib/json/cursor.h"
#include "lib/json/parse.h"
#include "test/fuzz/input.h"

/* The cursor and the parsed value show the same. */
static void compare(const struct json_piece *piece, const json_t *json)
{
    struct json_cursor cursor = json_cursor_into(piece);
    struct json_piece key, value;
    size_t n = 0;

    MUST(json_piece_is_object(piece) == json_is_object(json));
    MUST(json_piece_is_array(piece) == json_is_array(json));
    MUST(json_piece_is_string(piece) == json_is_string(json));
    if (json_is_object(json))
        for (; json_next_member(&cursor, &key, &value); n++) {
            CLEANUP(json_decrefp) json_t *name = NULL;

            MUST(input_taken(json_parse_here(key.text, key.length, &name)));
            const json_t *member = json_object_get(json, json_string_value(name));
            MUST(member);
            compare(&value, member);
        }
    else if (json_is_array(json))
        for (; json_next_element(&cursor, &value); n++)
            compare(&value, json_array_get(json, n));
    MUST(n == (json_is_object(json) ? json_object_size(json) : json_array_size(json)));
}

/* What is not JSON to the parser may be to the cursor, which does not look at UTF-8 nor for names
 * that come twice; then all of it can be walked through all the same. */
static void walk_through(const struct json_piece *piece)
{
    struct json_cursor members = json_cursor_into(piece), elements = members;
    struct json_piece key, value;

    if (json_piece_is_object(piece))
        while (json_next_member(&members, &key, &value)) {
            MUST(json_piece_is_string(&key));
            walk_through(&value);
        }
    else
        while (json_next_element(&elements, &value))
            walk_through(&value);
}

static void count_member(void *ctx, const struct json_piece *key, const struct json_piece *value)
{
    size_t *n = ctx;

    MUST(json_piece_is_string(key) && value->length > 0);
    ++*n;
}

/* Both ways to validate agree, and so do both ways to the outermost members. */
static void compare_members(const uint8_t *data, size_t size, const struct json_piece *validated)
{
    size_t n = 0;
    bool taken = input_taken(json_validate_members((const char *)data, size, count_member, &n));
    struct json_piece key, value;

    if (!validated || !json_piece_is_object(validated)) {
        MUST(!validated || (taken && n == 0));
        return;
    }
    MUST(taken);
    for (struct json_cursor cursor = json_cursor_into(validated);
         json_next_member(&cursor, &key, &value);)
        n--;
    MUST(n == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(json_decrefp) json_t *json = NULL, *again = NULL;
    struct json_piece piece;
    bool parsed = input_taken(json_parse_here((const char *)data, size, &json));
    bool validated = input_taken(json_validate((const char *)data, size, &piece));

    compare_members(data, size, validated ? &piece : NULL);
    if (validated)
        walk_through(&piece);
    if (!parsed)
        return 0;
    if (memchr(data, '\0', size)) /* jansson passes over a NUL behind a number */
        return 0;
    MUST(validated);
    compare(&piece, json);
    CLEANUP(freep) char *text = json_to_text(json);
    MUST(input_taken(json_parse_here(text, strlen(text), &again)));
    MUST(json_equal(json, again));
    return 0;
}
