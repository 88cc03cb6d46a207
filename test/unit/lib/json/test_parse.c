#include "lib/json/parse.h"

#include "lib/base/alloc.h"
#include "lib/rt/loop.h"
#include "test/unit/expect.h"
#include "test/unit/needle.h"

static const struct {
    const char *text, *value, *fault;
} rows[] = {
    {" { \"b\" : [ 1 , 2.5 ] , \"a\" : null } ", "{\"b\":[1,2.5],\"a\":null}", NULL},
    {"\"text\"", "\"text\"", NULL},
    {"{\"a\":\"b\\u0000c\"}", "{\"a\":\"b\\u0000c\"}", NULL},
    {"", NULL, "not JSON: line 1, column 0: unexpected token near end of file"},
    {"{\"a\": 1,\n\"b\" 2}", NULL, "not JSON: line 2, column 5: ':' expected near '2'"},
    {"{\"a\":1,\"a\":2}", NULL, "not JSON: line 1, column 10: duplicate object key near '\"a\"'"},
    {"{} {}", NULL, "not JSON: line 1, column 4: end of file expected near '{'"},
    {"\"Gr\xf6\"", NULL, "not JSON: line 1, column 3: unable to decode byte 0xf6 near '\"Gr'"},
};

static void check(size_t i, struct err *err, json_t *json)
{
    CLEANUP(json_decrefp) json_t *value = json;

    if (rows[i].fault) {
        assert_fails(err, ERR_INVALID, rows[i].fault);
        assert_null(json);
        return;
    }
    assert_ok(err);
    CLEANUP(freep) char *text = json_to_text(value);
    assert_string_equal(text, rows[i].value);
}

static void test_on_a_large_stack(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        json_t *json = NULL;
        struct err *err = json_parse_here(rows[i].text, strlen(rows[i].text), &json);

        check(i, err, json);
    }
}

static void parses(struct task *self, void *arg)
{
    unsigned *parsed = arg;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        json_t *json = NULL;
        struct err *err = json_parse(self, rows[i].text, strlen(rows[i].text), &json);

        check(i, err, json);
        ++*parsed;
    }
}

static void test_from_a_task(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    unsigned parsed = 0;

    (void)state;
    loop_spawn(loop, "parser", parses, &parsed);
    loop_run(loop);
    assert_int_equal(parsed, COUNT_OF(rows));
}

/* `depth` lists in each other, and brackets that are text in the innermost. */
static char *nested(size_t depth)
{
    static const char inner[] = "\"[{\\\"[{\"";
    char *text = mem_alloc(2 * depth + sizeof inner);

    memset(text, '[', depth);
    memcpy(text + depth, inner, sizeof inner);
    memset(text + depth + sizeof inner - 1, ']', depth);
    return text;
}

static void parse_deep(struct task *self, void *arg)
{
    static const struct {
        size_t depth;
        bool fits;
    } depths[] = {{1, true}, {JSON_MAX_DEPTH, true}, {JSON_MAX_DEPTH + 1, false}, {100000, false}};

    (void)arg;
    for (size_t i = 0; i < COUNT_OF(depths); i++) {
        CLEANUP(freep) char *text = nested(depths[i].depth);
        CLEANUP(json_decrefp) json_t *json = NULL;
        struct err *err = json_parse(self, text, strlen(text), &json);

        if (!depths[i].fits) {
            assert_fails(err, ERR_INVALID, "not usable JSON: nested deeper than 64 levels");
            continue;
        }
        assert_ok(err);
        CLEANUP(freep) char *written = json_to_text(json); /* on the task's stack */
        assert_string_equal(written, text);
    }
}

static void test_depth_is_bounded(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);

    (void)state;
    loop_spawn(loop, "parser", parse_deep, NULL);
    loop_run(loop);
}

/* ---- what may be secret ---- */

static void test_what_is_freed_is_cleared(void **state)
{
    struct needle needle = needle_new("json");
    struct buffer text = {.limit = 4096};
    json_t *json;

    (void)state;
    json_clear_freed();
    /* A sanitizer writes to the first bytes of what is freed. */
    buffer_printf(&text, "{\"aadClientSecret\": \"----------------");
    needle_append(&text, &needle);
    buffer_printf(&text, "\"}");
    assert_ok(json_parse_here(text.data, text.length, &json));
    buffer_fini(&text);
    assert_int_equal(needle_count(&needle), 1);
    json_decref(json);
    assert_int_equal(needle_count(&needle), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_on_a_large_stack),
        cmocka_unit_test(test_from_a_task),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_what_is_freed_is_cleared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
