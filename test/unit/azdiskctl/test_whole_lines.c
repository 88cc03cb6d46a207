/* Lines of a text that comes piece by piece. */
#include "azdiskctl/whole_lines.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

enum { LONGEST = 4 };

/* In `lines`, each line has a ';' behind it. */
static const struct {
    const char *text, *lines;
} rows[] = {
    {"", ""},
    {"a\nb\n", "a;b;"},
    {"a\nb", "a;b;"},
    {"\n\n", ";;"},
    {"1234\n", "1234;"},
    {"12345\n", "1234...;"},
    {"123456789\nb\n", "1234...;b;"},
    {"123456789", "1234...;"},
};

static void add(void *ctx, const char *line, size_t length)
{
    buffer_printf(ctx, "%.*s;", (int)length, line);
}

static void check(const char *text, size_t piece, const char *expected)
{
    CLEANUP(whole_lines_fini) struct whole_lines lines;
    CLEANUP(buffer_fini) struct buffer taken;
    size_t length = strlen(text);

    buffer_init(&taken, 1024);
    buffer_printf(&taken, "%s", "");
    whole_lines_init(&lines, LONGEST);
    for (size_t at = 0; at < length; at += piece) {
        size_t n = length - at < piece ? length - at : piece;
        CLEANUP(freep) char *copy = mem_copy(text + at, n);

        whole_lines_add(&lines, copy, n, add, &taken);
    }
    whole_lines_end(&lines, add, &taken);
    assert_string_equal(taken.data ? taken.data : "", expected);
}

static void test_in_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (size_t piece = 1; piece <= 12; piece++)
            check(rows[i].text, piece, rows[i].lines);
}

/* The beginning of a line may come again as a whole. */
static void test_a_line_without_its_end(void **state)
{
    CLEANUP(whole_lines_fini) struct whole_lines lines;
    CLEANUP(buffer_fini) struct buffer taken;

    (void)state;
    buffer_init(&taken, 1024);
    whole_lines_init(&lines, LONGEST);
    whole_lines_add(&lines, "a\nb", 3, add, &taken);
    assert_string_equal(taken.data, "a;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_pieces),
        cmocka_unit_test(test_a_line_without_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
