/* JSON values as YAML, and back. */
#include "lib/json/yaml_writer.h"

#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "lib/json/yaml.h"
#include "test/unit/expect.h"

static const struct {
    const char *json, *yaml;
} rows[] = {
    {"{\"volumes\":[{\"name\":\"pvc-1\",\"size\":10,\"nodes\":[\"a\",\"b\"]},{\"name\":\"x\"}]}",
     "volumes:\n- name: pvc-1\n  size: 10\n  nodes:\n  - a\n  - b\n- name: x\n"},
    {"{\"none\":[],\"nothing\":{},\"null\":null}", "none: []\nnothing: {}\n\"null\": null\n"},
    {"[0,-7,0.5,1e20,true,false,null]", "- 0\n- -7\n- 0.5\n- 1e20\n- true\n- false\n- null\n"},
    /* What a reader of any version could take for something else is quoted. */
    {"[\"true\",\"No\",\"y\",\"NULL\",\"~\",\"\"]",
     "- \"true\"\n- \"No\"\n- \"y\"\n- \"NULL\"\n- \"~\"\n- \"\"\n"},
    {"[\"1\",\"0x10\",\"1_000\",\"10:30\",\"2026-01-01T00:00:00Z\",\".inf\",\"+1\"]",
     "- \"1\"\n- \"0x10\"\n- \"1_000\"\n- \"10:30\"\n- \"2026-01-01T00:00:00Z\"\n- \".inf\"\n"
     "- \"+1\"\n"},
    {"[\"a: b\",\"a #b\",\"- a\",\"a \",\"{a}\",\"&a\",\"*a\",\"!a\",\"---\",\"a\\\"b\"]",
     "- \"a: b\"\n- \"a #b\"\n- \"- a\"\n- \"a \"\n- \"{a}\"\n- \"&a\"\n- \"*a\"\n- \"!a\"\n"
     "- \"---\"\n- \"a\\\"b\"\n"},
    {"[\"/subscriptions/s/disks/d\",\"Created\",\"a.b-c_d\"]",
     "- /subscriptions/s/disks/d\n- Created\n- a.b-c_d\n"},
    /* Nothing of it reaches a terminal as it is. */
    {"[\"a\\nb\\tc\",\"\\u001b[2J\",\"\\u009b2J\",\"\\u202etxt\",\"\\u00e9\"]",
     "- \"a\\nb\\tc\"\n- \"\\e[2J\"\n- \"\\x9B2J\"\n- \"\\u202Etxt\"\n- \"\\xE9\"\n"},
    {"\"alone\"", "alone\n"},
};

static void expect(const char *json_text, const char *yaml)
{
    CLEANUP(json_decrefp) json_t *json = NULL, *again = NULL;

    assert_ok(json_parse_here(json_text, strlen(json_text), &json));
    CLEANUP(freep) char *text = yaml_to_text(json);
    if (yaml)
        assert_string_equal(text, yaml);
    assert_ok(yaml_parse(text, strlen(text), &again));
    if (!json_equal(json, again))
        fail_msg("%s is read again as something else: %s", json_text, text);
}

static void test_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        expect(rows[i].json, rows[i].yaml);
}

/* Longer than any line, and a key that is too long for the short form of a member. */
static void test_long_texts_stay_whole(void **state)
{
    char text[4096], quoted[4200];

    (void)state;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 9 == 8 ? ' ' : 'x';
    text[sizeof text - 1] = '\0';
    snprintf(quoted, sizeof quoted, "{\"message\":\"%s\"}", text);
    expect(quoted, NULL);
    snprintf(quoted, sizeof quoted, "{\"%.2000s\":[\"a\",{\"b\":1}]}", text);
    expect(quoted, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_long_texts_stay_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
