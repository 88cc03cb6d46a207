/* What others have written, as a terminal may have it. */
#include "azdiskctl/printable.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static const struct {
    const char *text, *printable;
} rows[] = {
    {"", ""},
    {"pvc-1: no disk at LUN 1 \\ \"x\"", "pvc-1: no disk at LUN 1 \\ \"x\""},
    {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x92\xbe", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x92\xbe"},
    {"a\nb\tc\r", "a\\nb\\tc\\x0d"},
    {"\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"},
    {"\x7f", "\\x7f"},
    /* The same commands in one character, by ISO 6429. */
    {"\xc2\x9b"
     "2J\xc2\x80\xc2\x9f\xc2\xa0",
     "\\x9b2J\\x80\\x9f\xc2\xa0"},
    {"\xe2\x80\xaetxt.exe\xe2\x81\xa9\xe2\x80\x8e\xd8\x9c", "\\u202etxt.exe\\u2069\\u200e\\u061c"},
    {"a\xe2\x80\xa8"
     "b",
     "a\\u2028b"},
    {"\x9b"
     "2J\xff",
     "?2J?"},
    {"cut off \xe2\x80", "cut off ??"},
};

static void test_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *printable = printable_text(rows[i].text);

        assert_string_equal(printable, rows[i].printable);
    }
}

static void test_document(void **state)
{
    CLEANUP(json_decrefp)
    json_t *document =
        json_loads("{\"a\\u001b\":[\"x\\ny\",1,true,null,{\"b\":\"\\u009b\"}]}", 0, NULL);
    CLEANUP(json_decrefp) json_t *printable = printable_json(document);
    CLEANUP(json_decrefp)
    json_t *expected =
        json_loads("{\"a\\\\x1b\":[\"x\\\\ny\",1,true,null,{\"b\":\"\\\\x9b\"}]}", 0, NULL);

    (void)state;
    assert_non_null(expected);
    assert_true(json_equal(printable, expected));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_document),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
