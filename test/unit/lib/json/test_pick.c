#include "lib/json/pick.h"

#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "test/unit/expect.h"

static const struct {
    const char *json, *paths[4], *picked;
} rows[] = {
    {"{\"a\":1,\"b\":2}", {"b"}, "{\"b\":2}"},
    {"{\"a\":{\"b\":1,\"c\":2,\"d\":3},\"e\":4}", {"a.d", "a.b"}, "{\"a\":{\"d\":3,\"b\":1}}"},
    {"{\"a\":{\"b\":{\"c\":[1,2]}}}", {"a.b.c"}, "{\"a\":{\"b\":{\"c\":[1,2]}}}"},
    {"{\"a\":{\"b\":1}}", {"a.x", "y", "y.z"}, "{\"a\":{}}"},
    {"{\"a\":7,\"b\":null}", {"a.b", "b.c"}, "{\"a\":7,\"b\":null}"}, /* for the decoder to see */
    {"{\"a\":1}", {NULL}, "{}"},
    {"{\"a\":{\"b.c/d\":1,\"b\":{\"c/d\":2},\"e\":3}}", {"a.b.c/d"}, "{\"a\":{\"b.c/d\":1}}"},
    {"{\"a\":{\"b\":{\"c/d\":2},\"e\":3}}", {"a.b.c/d"}, "{\"a\":{\"b\":{\"c/d\":2}}}"},
    {"[]", {"a"}, "{}"},
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *json = NULL;

        assert_ok(json_parse_here(rows[i].json, strlen(rows[i].json), &json));
        CLEANUP(json_decrefp) json_t *picked = json_pick(json, rows[i].paths);
        CLEANUP(freep) char *text = json_to_text(picked);
        assert_string_equal(text, rows[i].picked);
        CLEANUP(freep) char *unchanged = json_to_text(json);
        assert_string_equal(unchanged, rows[i].json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
