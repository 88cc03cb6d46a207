/* Answers in which one object of somebody else is more than a parser takes. */
#include "lib/json/lenient.h"

#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "lib/rt/loop.h"
#include "test/unit/expect.h"

static const struct {
    const char *text, *value, *fault;
} rows[] = {
    {"{\"a\":9223372036854775807}", "{\"a\":9223372036854775807}", NULL},
    {"[12345678901234567890,-12345678901234567890]",
     "[1.2345678901234567e19,-1.2345678901234567e19]", NULL},
    {"[18446744073709551615,\"12345678901234567890\",2]",
     "[1.8446744073709552e19,\"12345678901234567890\",2]", NULL},
    {"{\"a\":1,\"b\":true,\"a\":[2.5e1]}", "{\"a\":[25.0],\"b\":true}", NULL},
    {"nonsense", NULL, "not JSON: line 1, column 8: invalid token near 'nonsense'"},
    {"\"\\", NULL, "not JSON: line 1, column 2: invalid escape near '\"\\'"},
    {"", NULL, "not JSON: line 1, column 0: unexpected token near end of file"},
};

static void parse_leniently(struct task *self, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *text = mem_strdup(rows[i].text);
        CLEANUP(json_decrefp) json_t *json = NULL;
        struct err *err = json_parse_leniently(self, text, strlen(text), &json);

        if (rows[i].fault) {
            assert_fails(err, ERR_INVALID, rows[i].fault);
            continue;
        }
        assert_ok(err);
        CLEANUP(freep) char *written = json_to_text(json);
        assert_string_equal(written, rows[i].value);
    }
}

static char *nested(size_t depth)
{
    char *text = mem_alloc(2 * depth + 1);

    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    return text;
}

static size_t depth_of(const json_t *list)
{
    size_t depth = 0;

    for (; list; list = json_array_get(list, 0))
        depth++;
    return depth;
}

/* What is too deep is missing, and all else is there. */
static void parse_deep_leniently(struct task *self, void *arg)
{
    CLEANUP(freep) char *deep = nested(JSON_MAX_DEPTH + 40);
    CLEANUP(freep) char *most = nested(JSON_MAX_DEPTH - 1);
    CLEANUP(freep) char *text = mem_printf("{\"deep\":%s,\"most\":%s}", deep, most);
    CLEANUP(json_decrefp) json_t *json = NULL;

    (void)arg;
    assert_ok(json_parse_leniently(self, text, strlen(text), &json));
    assert_int_equal(depth_of(json_object_get(json, "deep")), JSON_MAX_DEPTH - 1);
    assert_int_equal(depth_of(json_object_get(json, "most")), JSON_MAX_DEPTH - 1);
}

static void test_leniently(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);

    (void)state;
    loop_spawn(loop, "parser", parse_leniently, NULL);
    loop_spawn(loop, "deep parser", parse_deep_leniently, NULL);
    loop_run(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leniently),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
