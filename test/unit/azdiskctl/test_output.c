/* The forms of a command's document: which there are, and that data is whole and text printable. */
#include "azdiskctl/output.h"

#include <signal.h>
#include <unistd.h>

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

/* What was printed before counts as well. */
static void test_a_full_disk(void **state)
{
    FILE *out = fopen("/dev/full", "w");

    (void)state;
    assert_non_null(out);
    assert_fails(output_print(out, "text"), ERR_UNAVAILABLE, "the output: No space left on device");
    CLEANUP(err_freep) struct err *later = output_print(out, "");
    assert_non_null(later);
    (void)fclose(out);
}

static void test_a_reader_that_has_had_enough(void **state)
{
    int ends[2];

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    FILE *out = fdopen(ends[1], "w");
    assert_false(output_is_closed(out));
    assert_ok(output_print(out, "text"));
    close(ends[0]);
    assert_true(output_is_closed(out));
    assert_ok(output_print(out, "text"));
    (void)fclose(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offered),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_a_full_disk),
        cmocka_unit_test(test_a_reader_that_has_had_enough),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
