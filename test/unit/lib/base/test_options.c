#include "lib/base/options.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static struct {
    const char *endpoint;
    bool fencing;
    int64_t workers, offset;
    uint64_t timeout, period;
    int format;
    struct option_list groups;
} values;

static const char *const formats[] = {"text", "json", NULL};

static const struct option_row table[] = {
    {.name = "endpoint",
     .type = OPTION_STRING,
     .target = &values.endpoint,
     .help = "Where to listen",
     .environment = "TEST_ENDPOINT"},
    {.name = "fencing", .type = OPTION_BOOL, .target = &values.fencing, .help = "Reserve disks"},
    {.name = "workers",
     .type = OPTION_INT,
     .target = &values.workers,
     .help = "Tasks at once",
     .environment = "TEST_WORKERS",
     .least = 1,
     .most = 64},
    {.name = "offset", .type = OPTION_INT, .target = &values.offset, .help = "Added", .least = -10},
    {.name = "timeout",
     .type = OPTION_DURATION,
     .target = &values.timeout,
     .help = "Longest wait",
     .least = 1000,
     .most = 60000},
    {.name = "period", .type = OPTION_DURATION, .target = &values.period, .help = "Between two"},
    {.name = "format",
     .type = OPTION_CHOICE,
     .target = &values.format,
     .help = "Of the log",
     .choices = formats},
    LIST_FLAG("group", values.groups, "One of them"),
};

static int reset(void **state)
{
    (void)state;
    values = (__typeof__(values)){"unix:///csi.sock", false, 4, 0, 30000, 0, 1, {.n = 0}};
    unsetenv("TEST_ENDPOINT");
    unsetenv("TEST_WORKERS");
    return 0;
}

/* Arguments as a person types them, separated by blanks. */
static struct err *parse(const char *line)
{
    static char words[256]; /* string values point into it */
    char *argv[16] = {words}, *rest = words, *word;
    int argc = 1;

    snprintf(words, sizeof words, "%s", line);
    while ((word = strsep(&rest, " ")))
        if (*word)
            argv[argc++] = word;
    return options_parse(table, COUNT_OF(table), argc, argv);
}

static void test_nothing_given_leaves_the_defaults(void **state)
{
    (void)state;
    assert_ok(parse(""));
    assert_string_equal(values.endpoint, "unix:///csi.sock");
    assert_int_equal(values.workers, 4);
    assert_int_equal(values.timeout, 30000);
    assert_int_equal(values.format, 1);
    assert_false(values.fencing);
}

static void test_spellings(void **state)
{
    (void)state;
    assert_ok(
        parse("--endpoint=/a=b --workers 64 -offset=-10 --timeout=1m --period 0 -format text"));
    assert_string_equal(values.endpoint, "/a=b");
    assert_int_equal(values.workers, 64);
    assert_int_equal(values.offset, -10);
    assert_int_equal(values.timeout, 60000);
    assert_int_equal(values.format, 0);
    assert_ok(parse("--endpoint= --offset -3 --offset=9223372036854775807"));
    assert_string_equal(values.endpoint, "");
    assert_true(values.offset == INT64_MAX); /* the last one counts */
}

static void test_a_list_has_a_word_for_each_time(void **state)
{
    char flag[] = "--group=x";
    char *argv[OPTION_LIST_MOST + 2];

    (void)state;
    assert_ok(parse("--group=a,b --workers=5 -group --workers=6 --group="));
    assert_int_equal(values.groups.n, 3);
    assert_string_equal(values.groups.words[0], "a,b"); /* a group's name may have a comma */
    assert_string_equal(values.groups.words[1], "--workers=6");
    assert_string_equal(values.groups.words[2], "");
    assert_int_equal(values.workers, 5);

    reset(state);
    for (size_t i = 0; i < COUNT_OF(argv); i++)
        argv[i] = flag;
    assert_ok(options_parse(table, COUNT_OF(table), OPTION_LIST_MOST + 1, argv));
    assert_int_equal(values.groups.n, OPTION_LIST_MOST);
    reset(state);
    assert_fails(options_parse(table, COUNT_OF(table), OPTION_LIST_MOST + 2, argv), ERR_INVALID,
                 "--group: given more than 64 times");
}

static void test_booleans(void **state)
{
    static const struct {
        const char *line;
        bool value;
    } rows[] = {
        {"--fencing", true},     {"--fencing=false", false}, {"-fencing=TRUE", true},
        {"--fencing=0", false},  {"--fencing=1", true},      {"--fencing=No", false},
        {"--fencing=yes", true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        values.fencing = !rows[i].value;
        assert_ok(parse(rows[i].line));
        assert_int_equal(values.fencing, rows[i].value);
    }
}

static void test_the_command_line_wins_over_the_environment(void **state)
{
    (void)state;
    setenv("TEST_ENDPOINT", "/environment", 1);
    setenv("TEST_WORKERS", "7", 1);
    assert_ok(parse("--workers=8"));
    assert_string_equal(values.endpoint, "/environment");
    assert_int_equal(values.workers, 8);

    setenv("TEST_ENDPOINT", "", 1); /* empty is as if it were not set */
    values.endpoint = "default";
    assert_ok(parse(""));
    assert_string_equal(values.endpoint, "default");

    setenv("TEST_WORKERS", "many", 1);
    assert_fails(parse(""), ERR_INVALID,
                 "environment variable TEST_WORKERS: \"many\" is not a whole number from 1 to 64");
}

static void test_faults_name_the_flag_the_value_and_what_is_allowed(void **state)
{
    static const struct {
        const char *line, *message;
    } rows[] = {
        {"--workers=0", "--workers: \"0\" is not a whole number from 1 to 64"},
        {"--workers=65", "--workers: \"65\" is not a whole number from 1 to 64"},
        {"--workers=", "--workers: \"\" is not a whole number from 1 to 64"},
        {"--workers=1.5", "--workers: \"1.5\" is not a whole number from 1 to 64"},
        {"--workers", "--workers needs a value"},
        {"--offset=-11", "--offset: \"-11\" is not a whole number from -10 to 9223372036854775807"},
        {"--offset=9223372036854775808", "--offset: \"9223372036854775808\" is not a whole number "
                                         "from -10 to 9223372036854775807"},
        {"--fencing=maybe", "--fencing: \"maybe\" is neither true nor false"},
        {"--timeout=999ms", "--timeout: \"999ms\" is shorter than 1s"},
        {"--timeout=1m1ms", "--timeout: \"1m1ms\" is longer than 1m"},
        {"--timeout=10", "--timeout: \"10\" is not a duration such as 300ms, 30s, 5m or 1h30m"},
        {"--format=xml", "--format: \"xml\" is not one of text, json"},
        {"--colour=red", "unknown flag --colour (see --help)"},
        {"--work=1", "unknown flag --work (see --help)"},
        {"--", "unknown flag -- (see --help)"},
        {"-", "unexpected argument \"-\": flags are --name=value"},
        {"--fencing false", "unexpected argument \"false\": flags are --name=value"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_fails(parse(rows[i].line), ERR_INVALID, rows[i].message);
    assert_int_equal(values.workers, 4); /* targets are untouched by faults */
    assert_int_equal(values.timeout, 30000);
}

static void test_help_shows_every_row_with_its_default(void **state)
{
    static const char expected[] =
        "program - does it\n\nUsage: program [--flag=value ...]\n\n"
        "  --endpoint\n      Where to listen (default \"unix:///csi.sock\"; environment "
        "variable TEST_ENDPOINT)\n"
        "  --fencing\n      Reserve disks (default false)\n"
        "  --workers\n      Tasks at once (default 4; environment variable TEST_WORKERS)\n"
        "  --offset\n      Added (default 0)\n"
        "  --timeout\n      Longest wait (default 30s)\n"
        "  --period\n      Between two (default 0s)\n"
        "  --format\n      Of the log (default json; one of text json)\n"
        "  --group\n      One of them (default \"\")\n"
        "  --help\n      Print this and exit\n"
        "  --version\n      Print the version and exit\n";
    FILE *real_stdout = stdout;
    CLEANUP(freep) char *text = NULL;
    size_t size;

    (void)state;
    stdout = open_memstream(&text, &size);
    options_help(table, COUNT_OF(table), "program", "does it");
    fclose(stdout);
    stdout = real_stdout;
    assert_string_equal(text, expected);
}

static void test_a_refusal_is_status_2(void **state)
{
    int status = 0;

    (void)state;
    assert_false(options_refuse("test", &status, "%s must not be %d", "--a", 7));
    assert_int_equal(status, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_nothing_given_leaves_the_defaults, reset),
        cmocka_unit_test_setup(test_spellings, reset),
        cmocka_unit_test_setup(test_a_list_has_a_word_for_each_time, reset),
        cmocka_unit_test_setup(test_booleans, reset),
        cmocka_unit_test_setup(test_the_command_line_wins_over_the_environment, reset),
        cmocka_unit_test_setup(test_faults_name_the_flag_the_value_and_what_is_allowed, reset),
        cmocka_unit_test_setup(test_help_shows_every_row_with_its_default, reset),
        cmocka_unit_test(test_a_refusal_is_status_2),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
