/* The grammar by a table and, on damaged documents, against jansson's idea of it. */
#include "lib/json/cursor.h"

#include <jansson.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "test/unit/expect.h"

static const char nested[] = "{\"a\":{\"b\":[1,2 , 3],\"c\":null}\n,\t\"d\":\"}]\"}";

static const char *const good[] = {
    "{}",
    "[]",
    " [ ] ",
    "{ }",
    "0",
    "-0",
    "-1.5e+10",
    "2E-3",
    "10",
    "true",
    "false",
    "null",
    "\"\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\uABCD\"",
    "[[],{},[{}]]",
    nested,
    " \r\n[] ",
    "\"\xc3\xb6\"",
};

static const struct {
    const char *text;
    unsigned after;
} bad[] = {
    {"", 0},           {" ", 1},        {"{", 0},         {"[", 1},       {"[1", 1},
    {"[1,", 3},        {"[1,]", 3},     {"[,1]", 1},      {"{\"a\"}", 0}, {"{\"a\":}", 5},
    {"{\"a\":1,}", 5}, {"{a:1}", 0},    {"{\"a\":1]", 5}, {"[1}", 1},     {"[1 2]", 1},
    {"01", 1},         {"-", 0},        {"+1", 0},        {".5", 0},      {"1.", 0},
    {"1e", 0},         {"1e+", 0},      {"tru", 0},       {"True", 0},    {"nul", 0},
    {"\"a", 0},        {"\"a\nb\"", 0}, {"\"a\x1f\"", 0}, {"\"\\x\"", 0}, {"\"\\u12g4\"", 0},
    {"\"\\u123", 0},   {"\"\\", 0},     {"{} {}", 2},     {"'a'", 0},
};

static void test_grammar(void **state)
{
    struct json_piece piece;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_ok(json_validate(good[i], strlen(good[i]), &piece));
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        CLEANUP(freep)
        char *fault = mem_printf("not JSON: invalid, truncated or nested too deeply after byte %u",
                                 bad[i].after);

        assert_fails(json_validate(bad[i].text, strlen(bad[i].text), &piece), ERR_INVALID, fault);
    }
}

static void test_the_text_ends_where_its_length_says(void **state)
{
    struct json_piece piece;

    (void)state;
    assert_ok(json_validate("[1]]", 3, &piece));
    assert_int_equal(piece.length, 3);
    for (size_t length = 0; length < strlen(nested); length++) {
        CLEANUP(freep) char *exactly = mem_copy(nested, length);
        CLEANUP(err_freep) struct err *err = json_validate(exactly, length, &piece);

        assert_non_null(err);
    }
}

static void test_depth_is_bounded(void **state)
{
    char text[2 * (JSON_CURSOR_MAX_DEPTH + 1)];
    struct json_piece piece;
    size_t half = JSON_CURSOR_MAX_DEPTH;

    (void)state;
    memset(text, '[', half);
    text[half] = '1';
    memset(text + half + 1, ']', half);
    assert_ok(json_validate(text, 2 * half + 1, &piece));
    memset(text, '[', half + 1);
    assert_fails(json_validate(text, 2 * half + 1, &piece), ERR_INVALID,
                 "not JSON: invalid, truncated or nested too deeply after byte 64");
}

/* Characters are looked at by eights: wherever in a string one of them has a meaning, it is seen.
 */
static void test_every_place_of_a_string(void **state)
{
    static const struct {
        char c;
        bool good; /* before another one of it */
    } rows[] = {{'"', false}, {'\\', true},   {'\0', false},  {'\x1f', false}, {' ', true},
                {'!', true},  {'\x7f', true}, {'\x80', true}, {'\xff', true}};
    char text[40];
    struct json_piece piece;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (size_t length = 4; length < sizeof text; length++)
            for (size_t place = 1; place + 2 < length; place++) {
                memset(text, 'x', length);
                text[0] = text[length - 1] = '"';
                text[place] = text[place + 1] = rows[i].c;
                CLEANUP(freep) char *exactly = mem_copy(text, length);
                CLEANUP(err_freep) struct err *err = json_validate(exactly, length, &piece);
                if (!err != rows[i].good)
                    fail_msg("0x%02x at %zu of %zu: %s", (unsigned char)rows[i].c, place, length,
                             err ? err_message(err) : "is taken");
            }
}

/* ---- members on the way ---- */

static void write_member(void *ctx, const struct json_piece *key, const struct json_piece *value)
{
    struct buffer *text = ctx;

    buffer_printf(text, "%.*s=%.*s;", (int)key->length, key->text, (int)value->length, value->text);
}

static void test_members_are_handed_out(void **state)
{
    static const struct {
        const char *text, *members;
    } rows[] = {
        {"{}", ""},
        {" { } ", ""},
        {"{\"a\":1}", "\"a\"=1;"},
        {" { \"a\" : [ 1 , {\"b\":2} ] , \"\":\"}\",\"a\": 2e1 } ",
         "\"a\"=[ 1 , {\"b\":2} ];\"\"=\"}\";\"a\"=2e1;"},
        {"[{\"a\":1}]", ""},
        {"7", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(buffer_fini) struct buffer members = {.limit = 200};

        assert_ok(
            json_validate_members(rows[i].text, strlen(rows[i].text), write_member, &members));
        assert_string_equal(members.data ? members.data : "", rows[i].members);
    }
}

static void pass_over(void *ctx, const struct json_piece *key, const struct json_piece *value)
{
    (void)ctx, (void)key, (void)value;
}

static void test_members_of_what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        CLEANUP(err_freep)
        struct err *err = json_validate_members(bad[i].text, strlen(bad[i].text), pass_over, NULL);

        if (!err || err_kind(err) != ERR_INVALID)
            fail_msg("%s is taken", bad[i].text);
    }
    assert_fails(json_validate_members("{\"a\":1,\"b\":[1,x]}", 17, pass_over, NULL), ERR_INVALID,
                 "not JSON: invalid, truncated or nested too deeply after byte 14");
}

/* ---- cursors ---- */

static void assert_piece(const struct json_piece *piece, const char *text)
{
    if (piece->length != strlen(text) || memcmp(piece->text, text, piece->length) != 0)
        fail_msg("expected %s, got %.*s", text, (int)piece->length, piece->text);
}

static void test_members_and_elements_in_order(void **state)
{
    static const char text[] = " { \"a\" : [ 1 , \"x,y\" ,{ } ] , \"b\":\"}\", \"a\": 2e1 } ";
    static const char *const pairs[][2] = {
        {"\"a\"", "[ 1 , \"x,y\" ,{ } ]"}, {"\"b\"", "\"}\""}, {"\"a\"", "2e1"}};
    static const char *const elements[] = {"1", "\"x,y\"", "{ }"};
    struct json_piece whole, key, value, element;
    size_t n = 0;

    (void)state;
    assert_ok(json_validate(text, strlen(text), &whole));
    assert_true(json_piece_is_object(&whole));
    for (struct json_cursor cursor = json_cursor_into(&whole);
         json_next_member(&cursor, &key, &value); n++) {
        assert_piece(&key, pairs[n][0]);
        assert_piece(&value, pairs[n][1]);
    }
    assert_int_equal(n, COUNT_OF(pairs));

    assert_true(json_find_member(&whole, "a", &value));
    assert_true(json_piece_is_array(&value));
    n = 0;
    for (struct json_cursor cursor = json_cursor_into(&value); json_next_element(&cursor, &element);
         n++)
        assert_piece(&element, elements[n]);
    assert_int_equal(n, COUNT_OF(elements));
}

static void test_nothing_is_inside_of_a_scalar(void **state)
{
    static const char *const texts[] = {"1", "\"a\"", "null", "{}", "[]"};
    struct json_piece whole, piece;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assert_ok(json_validate(texts[i], strlen(texts[i]), &whole));
        struct json_cursor cursor = json_cursor_into(&whole);
        assert_false(json_next_element(&cursor, &piece));
        assert_false(json_next_member(&cursor, &piece, &piece));
        assert_false(json_find_member(&whole, "a", &piece));
    }
}

/* ---- against jansson ---- */

/* What jansson refuses for reasons that are not the grammar's, or takes in spite of it, does not
 * come out of this alphabet. */
static void damage(char *text, size_t length, unsigned *seed)
{
    static const char alphabet[] = "{}[]:,\"\\ 01-.etrunl";
    unsigned n = 1 + (unsigned)rand_r(seed) % 3;

    while (n--)
        text[(size_t)rand_r(seed) % length] =
            alphabet[(size_t)rand_r(seed) % (sizeof alphabet - 1)];
}

static void test_agrees_with_jansson_on_damaged_documents(void **state)
{
    unsigned n_good = 0, n_bad = 0;

    (void)state;
    for (unsigned seed = 1; seed <= 100000; seed++) {
        static const char original[] =
            "{\"a\":{\"b\":[1,2.5,-3e7],\"c\":null},\"d\":[{\"e\":\"\\u0041 "
            "\\n\"},true,[false]],\"f\":\"x\"}";
        char text[sizeof original];
        unsigned random = seed;
        struct json_piece piece;

        memcpy(text, original, sizeof original);
        damage(text, sizeof original - 1, &random);
        CLEANUP(err_freep)
        struct err *err = json_validate(text, sizeof original - 1, &piece);
        CLEANUP(json_decrefp)
        json_t *json =
            json_loadb(text, sizeof original - 1, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        CLEANUP(err_freep)
        struct err *other = json_validate_members(text, sizeof original - 1, pass_over, NULL);
        if (!err != !other)
            fail_msg("%s: only one way is valid", text);
        if (!json != !!err)
            fail_msg("%s: %s", text, err ? err_message(err) : "jansson refuses it");
        *(err ? &n_bad : &n_good) += 1;
    }
    assert_true(n_good > 1000 && n_bad > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grammar),
        cmocka_unit_test(test_the_text_ends_where_its_length_says),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_every_place_of_a_string),
        cmocka_unit_test(test_members_are_handed_out),
        cmocka_unit_test(test_members_of_what_is_wrong),
        cmocka_unit_test(test_members_and_elements_in_order),
        cmocka_unit_test(test_nothing_is_inside_of_a_scalar),
        cmocka_unit_test(test_agrees_with_jansson_on_damaged_documents),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
