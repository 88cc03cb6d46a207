/* Lines of logs as they are printed one by one. */
#include "azdiskctl/log_printer.h"

#include <errno.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"
#include "test/unit/expect.h"

static json_t *line(const char *pod, const char *container, const char *text)
{
    return json_pack("{s:s, s:s, s:s, s:s}", "time", "T", "pod", pod, "container", container,
                     "text", text);
}

static const struct {
    enum output output;
    const char *printed;
} rows[] = {
    {OUTPUT_TEXT, "T  a      \\x1b  x\\x1b[2J\n"},
    {OUTPUT_JSON,
     "{\"time\":\"T\",\"pod\":\"a\",\"container\":\"\\u001B\",\"text\":\"x\\u001B[2J\"}\n"},
    {OUTPUT_YAML, "---\ntime: T\npod: a\ncontainer: \"\\e\"\ntext: \"x\\e[2J\"\n"},
};

static void test_forms(void **state)
{
    CLEANUP(json_decrefp) json_t *of_a = line("a", "\x1b", "x\x1b[2J");
    CLEANUP(json_decrefp) json_t *longer = line("pod-b", "c", "");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct log_printer printer = {.output = rows[i].output};

        log_printer_widen(&printer, of_a);
        log_printer_widen(&printer, longer);
        CLEANUP(freep) char *text = log_printer_text(&printer, of_a);
        assert_string_equal(text, rows[i].printed);
    }
}

/* A reader that has had enough is no error; a file system that is full is one. */
static void test_who_reads(void **state)
{
    struct log_printer open = {.out = stdout}, gone = {stdout, OUTPUT_TEXT, 0, 0, EPIPE},
                       full = {stdout, OUTPUT_TEXT, 0, 0, ENOSPC};
    CLEANUP(err_freep) struct err *err = log_printer_error(&full);

    (void)state;
    assert_true(log_printer_is_closed(&gone) && log_printer_is_closed(&full));
    assert_false(log_printer_is_closed(&open));
    assert_null(log_printer_error(&gone));
    assert_non_null(err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_who_reads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
