#include "lib/json/yaml.h"

#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "test/unit/expect.h"

static const struct {
    const char *why, *text, *value;
} rows[] = {
    {"nothing", "", "null"},
    {"comments only", "# nothing\n", "null"},
    {"a kubeconfig's shapes",
     "apiVersion: v1\nclusters:\n- cluster:\n    server: https://10.0.0.1:6443 # the API\n"
     "  name: here\nusers: []\npreferences: {}\n",
     "{\"apiVersion\":\"v1\",\"clusters\":[{\"cluster\":{\"server\":\"https://10.0.0.1:6443\"},"
     "\"name\":\"here\"}],\"users\":[],\"preferences\":{}}"},
    {"flow style is JSON", "{\"a\": [1, 2.5, null, true], 'b': \"c\"}",
     "{\"a\":[1,2.5,null,true],\"b\":\"c\"}"},
    {"numbers", "[0, 7, -7, +7, 1e3, .5, -1.5E-1]", "[0,7,-7,7,1000.0,0.5,-0.14999999999999999]"},
    {"too wide for an integer", "99999999999999999999", "1e20"},
    {"null and booleans", "[~, null, NULL, true, True, FALSE]", "[null,null,null,true,true,false]"},
    {"a value that is left out", "a:\nb: 1\n", "{\"a\":null,\"b\":1}"},
    {"what only looks like them", "[yes, on, nil, 0x10, 1_000, 10:30:00, 1.2.3, -, .inf, e5]",
     "[\"yes\",\"on\",\"nil\",\"0x10\",\"1_000\",\"10:30:00\",\"1.2.3\",\"-\",\".inf\",\"e5\"]"},
    {"quoted is text", "['1', \"true\", '', \"a\\nb\"]", "[\"1\",\"true\",\"\",\"a\\nb\"]"},
    {"blocks of text", "literal: |\n  a\n  b\nfolded: >\n  a\n  b\n",
     "{\"literal\":\"a\\nb\\n\",\"folded\":\"a b\\n\"}"},
    {"a document between its marks", "---\na: 1\n...\n", "{\"a\":1}"},
    {"an anchor that nobody refers to", "a: &x 1\n", "{\"a\":1}"},
};

static void test_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *json = NULL;

        assert_ok(yaml_parse(rows[i].text, strlen(rows[i].text), &json));
        CLEANUP(freep) char *value = json_to_text(json);
        if (strcmp(value, rows[i].value) != 0)
            fail_msg("%s: expected %s, got %s", rows[i].why, rows[i].value, value);
    }
}

static const struct {
    const char *text, *fault;
} faults[] = {
    {"a: &x 1\nb: *x\n", "line 2, column 4: aliases are not allowed"},
    {"a: 1\nb: 2\na: 3\n", "line 3, column 1: a duplicate key"},
    {"? [a]\n: 1\n", "line 1, column 3: a key that is not a string"},
    {"a: 1\n---\nb: 2\n", "line 3, column 1: a second document"},
    {"a: \"x\\0y\"\n", "line 1, column 4: text with a NUL character"},
    {"a: [1, 2\nb: 3\n", "line 2, column 2: did not find expected ',' or ']'"},
    {"a:\n\t- 1\n", "line 2, column 1: found character that cannot start any token"},
    {"a: \xff\n", "line 1, column 1: invalid leading UTF-8 octet"},
};

static void test_faults_have_a_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        CLEANUP(freep) char *message = mem_printf("not usable YAML: %s", faults[i].fault);
        json_t *json = NULL;

        assert_fails(yaml_parse(faults[i].text, strlen(faults[i].text), &json), ERR_INVALID,
                     message);
        assert_null(json);
    }
}

static void test_depth_is_bounded(void **state)
{
    char text[100];
    json_t *json = NULL;

    (void)state;
    memset(text, '[', 50);
    memset(text + 50, ']', 50);
    assert_ok(yaml_parse(text + 50 - 33, 66, &json));
    json_decref(TAKE_PTR(json));
    assert_fails(yaml_parse(text + 50 - 34, 68, &json), ERR_INVALID,
                 "not usable YAML: line 1, column 34: nested too deeply");
    assert_null(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_faults_have_a_place),
        cmocka_unit_test(test_depth_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
