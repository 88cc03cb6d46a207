/* Lines of logs: which are wanted, and in which order they come. */
#include "azdiskctl/log_line.h"

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/base/cleanup.h"
#include "test/unit/expect.h"

static const struct {
    const char *line, *name;
    bool mentioned;
} mentions[] = {
    {"pvc-1", "pvc-1", true},
    {"volume PVC-1.", "pvc-1", true},
    {"attachment pvc-1-node-a-attachment", "pvc-1", true},
    {"/disks/pvc-1: attached", "pvc-1", true},
    {"pvc-10 pvc-1", "pvc-1", true},
    {"pvc-10", "pvc-1", false},
    {"my-pvc-1", "pvc-1", false},
    {"my_pvc-1", "pvc-1", false},
    {"xpvc-1", "pvc-1", false},
    {"pvc-", "pvc-1", false},
    {"", "pvc-1", false},
};

static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(mentions); i++) {
        size_t length = strlen(mentions[i].line);
        CLEANUP(freep) char *exact = mem_copy(mentions[i].line, length);

        assert_true(log_line_mentions(exact, length, mentions[i].name) == mentions[i].mentioned);
    }
}

static void test_names_are_kept_once(void **state)
{
    struct log_names names = {0};

    (void)state;
    log_names_add(&names, NULL);
    log_names_add(&names, "");
    log_names_add(&names, "pvc-1");
    log_names_add(&names, "PVC-1");
    log_names_add(&names, "pv-1");
    assert_int_equal(names.n, 2);
}

/* The texts of the lines of two logs in their order, each with a blank behind it. */
static char *merged(const char *one, const char *other, const struct log_names *names)
{
    CLEANUP(log_lines_fini) struct log_lines lines = {0};
    CLEANUP(json_decrefp) json_t *source = json_pack("{s:s, s:s}", "pod", "p", "container", "c");
    struct log_cursor at_one = {0}, at_other = {0};
    struct buffer text;
    json_t *line;
    size_t i;

    log_lines_add(&lines, source, one, strlen(one), names, &at_one);
    log_lines_add(&lines, source, other, strlen(other), names, &at_other);
    CLEANUP(json_decrefp) json_t *list = log_lines_json(&lines);
    buffer_init(&text, 1 << 16);
    buffer_printf(&text, "%s", "");
    json_array_foreach(list, i, line)
        buffer_printf(&text, "%s ", json_string_value(json_object_get(line, "text")));
    return buffer_take(&text);
}

#define AT(seconds) "2026-11-27T10:00:" seconds " "

static const struct {
    const char *one, *other, *merged;
} logs[] = {
    {"", "", ""},
    {AT("02Z") "b\n" AT("04Z") "d\n", AT("01Z") "a\n" AT("03.5Z") "c", "a b c d "},
    /* Fractions of any length, and other zones. */
    {AT("01.12Z") "b\n" AT("01.3Z") "d\n", AT("01.1Z") "a\n2026-11-27T12:00:01.2+02:00 c\n",
     "a b c d "},
    /* In the order in which they came, if the times are equal or there is none. */
    {AT("01Z") "a\n" AT("01Z") "b\nno time\n", AT("01Z") "c\n", "a b no time c "},
    {"no time at all\n", AT("01Z") "a\n", "no time at all a "},
    {"\n\n", "", "  "},
    {AT("01Z") "\xff\n", "", "? "},
};

static void test_order(void **state)
{
    const struct log_names all = {0};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(logs); i++) {
        CLEANUP(freep) char *text = merged(logs[i].one, logs[i].other, &all);

        assert_string_equal(text, logs[i].merged);
    }
}

static void test_the_time_is_no_name(void **state)
{
    struct log_names names = {0};

    (void)state;
    log_names_add(&names, "2026");
    log_names_add(&names, "x");
    CLEANUP(freep) char *text = merged(AT("01Z") "a\n" AT("02Z") "x y\n", "", &names);
    assert_string_equal(text, "x y ");
}

/* The API server gives the lines of a whole second again; a part of a log goes on from the last. */
static void test_what_was_read_before(void **state)
{
    static const char first[] = AT("01Z") "a\n" AT("01.5Z") "b\n";
    static const char again[] = AT("01Z") "a\n" AT("01.5Z") "b\n" AT("01.5Z") "c\n";
    static const char more[] = "no time\n";
    CLEANUP(log_lines_fini) struct log_lines lines = {0};
    const struct log_names all = {0};
    struct log_cursor cursor = {0};

    (void)state;
    log_lines_add(&lines, NULL, first, strlen(first), &all, &cursor);
    log_cursor_reopen(&cursor);
    log_lines_add(&lines, NULL, again, strlen(again), &all, &cursor);
    log_lines_add(&lines, NULL, more, strlen(more), &all, &cursor);
    assert_int_equal(lines.n, 4);
    assert_string_equal(lines.items[2].text, "c");
    assert_string_equal(lines.items[3].text, "no time");
    assert_int_equal(lines.items[3].us, lines.items[2].us);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_names_are_kept_once),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_the_time_is_no_name),
        cmocka_unit_test(test_what_was_read_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
