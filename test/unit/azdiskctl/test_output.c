/* The forms of a command's document: which there are, and that data is whole and text printable. */
#include "azdiskctl/output.h"

#include "azdiskctl/document.h"
#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static void write_name(const json_t *document, struct buffer *out)
{
    buffer_printf(out, "name: %s\n", text_of(document, "name"));
}

static const struct output_writers writers = {
    {[OUTPUT_TEXT] = write_name, [OUTPUT_NAME] = write_name}};

static void test_offered(void **state)
{
    CLEANUP(freep) char *names = outputs_offered(&writers);

    (void)state;
    assert_string_equal(names, "text, name, json, yaml");
    assert_true(output_is_offered(&writers, OUTPUT_YAML));
    assert_false(output_is_offered(&writers, OUTPUT_WIDE));
}

static void test_forms(void **state)
{
    static const struct {
        enum output output;
        const char *text;
    } rows[] = {
        {OUTPUT_TEXT, "name: a\\x1b[2J\n"},
        {OUTPUT_NAME, "name: a\\x1b[2J\n"},
        {OUTPUT_JSON, "{\"name\":\"a\\u001B[2J\"}\n"},
        {OUTPUT_YAML, "name: \"a\\e[2J\"\n"},
    };
    CLEANUP(json_decrefp) json_t *document = json_pack("{s:s}", "name", "a\x1b[2J");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *text = output_text(&writers, rows[i].output, document);

        assert_string_equal(text, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offered),
        cmocka_unit_test(test_forms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
