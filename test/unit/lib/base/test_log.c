/* Lines are compared as written to the descriptor of stderr, with what differs from run to run (the
 * time, the process id, the line number) replaced by a letter. */
#include "lib/base/log.h"

#include <ctype.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "test/unit/captured_stderr.h"
#include "test/unit/expect.h"

/* Every run of digits and spaces before `end` becomes an N. */
static char *without_digits(const char *text, const char *end)
{
    char *plain = mem_alloc(strlen(text) + 1), *out = plain;
    bool in_number = false;

    for (; *text; text++) {
        bool number = text < end && (isdigit((unsigned char)*text) || *text == ' ');

        if (!number)
            *out++ = *text;
        else if (!in_number)
            *out++ = 'N';
        in_number = number;
    }
    return plain;
}

static void test_text(void **state)
{
    (void)state;
    log_setup(2, LOG_TEXT);
    struct captured_stderr capture = capture_stderr();
    log_error("disk \"%s\"\n failed\x1b[31m \\ %d%%", "d1", 7);
    log_warning("careful");
    log_info("%s", "");
    CLEANUP(freep) char *text = captured_text(capture);
    CLEANUP(freep) char *plain = without_digits(text, strchr(text, ']'));

    assert_memory_equal(
        plain, "EN:N:N.N" __FILE__ ":N] disk \"d1\"\\x0a failed\\x1b[31m \\ 7%\nW",
        strlen("EN:N:N.N" __FILE__ ":N] disk \"d1\"\\x0a failed\\x1b[31m \\ 7%\nW"));
    assert_non_null(strstr(plain, "] careful\nI"));
    assert_string_equal(plain + strlen(plain) - 3, "] \n");
}

static void test_json(void **state)
{
    (void)state;
    log_setup(2, LOG_JSON);
    struct captured_stderr capture = capture_stderr();
    log_warning("disk \"%s\"\n\\ Gr\xf6sse", "d1");
    CLEANUP(freep) char *text = captured_text(capture);
    CLEANUP(freep) char *plain = without_digits(text, strstr(text, "message"));

    assert_string_equal(plain,
                        "{\"time\":\"N-N-NTN:N:N.NZ\",\"level\":\"warning\",\"caller\":\"" __FILE__
                        ":N\",\"message\":\"disk \\\"d1\\\"\\u000a\\\\ Gr?sse\"}\n");
}

static void test_verbosity(void **state)
{
    static const struct {
        int verbosity;
        const char *levels;
    } rows[] = {{0, "EW"}, {1, "EW"}, {2, "EWI"}, {4, "EWI"}, {5, "EWID"}, {10, "EWID"}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char levels[5] = "";

        log_setup(rows[i].verbosity, LOG_TEXT);
        struct captured_stderr capture = capture_stderr();
        log_error("x");
        log_warning("x");
        log_info("x");
        log_debug("x");
        CLEANUP(freep) char *text = captured_text(capture);
        for (char *line = text; *line; line = strchr(line, '\n') + 1)
            levels[strlen(levels)] = *line;
        assert_string_equal(levels, rows[i].levels);
    }
}

static void test_arguments_of_what_is_not_written_are_not_evaluated(void **state)
{
    int evaluated = 0;

    (void)state;
    log_setup(2, LOG_TEXT);
    log_debug("%d", ++evaluated);
    assert_int_equal(evaluated, 0);
}

/* However long and bad the message is, the line ends, once, and is valid. */
static void test_a_long_message_is_cut(void **state)
{
    static const struct {
        enum log_format format;
        char fill;
        const char *end;
        size_t length;
    } rows[] = {
        {LOG_TEXT, 'x', "xx\n", 16 * 1024},
        {LOG_JSON, 'x', "xx\"}\n", 16 * 1024},
        {LOG_JSON, '\n', "\\u000a\\u000a\"}\n", 6 * 16 * 1024},
        {LOG_JSON, '\xf6', "??\"}\n", 16 * 1024},
    };
    CLEANUP(freep) char *message = mem_alloc(200 * 1024);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        memset(message, rows[i].fill, 200 * 1024 - 1);
        log_setup(2, rows[i].format);
        struct captured_stderr capture = capture_stderr();
        log_info("%s", message);
        CLEANUP(freep) char *text = captured_text(capture);

        assert_in_range(strlen(text), rows[i].length, rows[i].length + 200);
        assert_string_equal(text + strlen(text) - strlen(rows[i].end), rows[i].end);
        assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_verbosity),
        cmocka_unit_test(test_arguments_of_what_is_not_written_are_not_evaluated),
        cmocka_unit_test(test_a_long_message_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
