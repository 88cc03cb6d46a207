#include "lib/base/utf8.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static const struct {
    const char *why, *text, *repaired;
} rows[] = {
    {"nothing", "", ""},
    {"ASCII, control characters too", "a\n\x7f", "a\n\x7f"},
    {"two, three and four bytes, first and last of each",
     "\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf"
     "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
     "\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80"
     "\xf4\x8f\xbf\xbf"},
    {"Latin-1",
     "Gr\xf6\xdf"
     "e",
     "Gr??e"},
    {"a byte that only continues", "a\x80z", "a?z"},
    {"cut off at the end", "a\xe2\x82", "a??"},
    {"cut off by another sequence", "\xe2\x82\xc3\xb6", "??\xc3\xb6"},
    {"overlong slash", "\xc0\xaf\xe0\x80\xaf\xf0\x80\x80\xaf", "?????????"},
    {"a surrogate", "\xed\xa0\x80", "???"},
    {"beyond the last character", "\xf4\x90\x80\x80\xf5\xff", "??????"},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *text = mem_strdup(rows[i].text);

        assert_int_equal(utf8_is_valid(text), strcmp(text, rows[i].repaired) == 0);
        utf8_repair(text);
        if (strcmp(text, rows[i].repaired) != 0)
            fail_msg("%s: got \"%s\"", rows[i].why, text);
        assert_true(utf8_is_valid(text));
    }
}

static void test_cuts(void **state)
{
    static const struct {
        const char *text;
        size_t most, length;
    } cuts[] = {
        {"", 0, 0},
        {"abc", 4, 3},
        {"abc", 3, 3},
        {"abc", 2, 2},
        {"a\xe2\x82\xacz", 1, 1},
        {"a\xe2\x82\xacz", 2, 1},
        {"a\xe2\x82\xacz", 3, 1},
        {"a\xe2\x82\xacz", 4, 4},
        {"\x80\x80", 1, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cuts); i++)
        assert_int_equal(utf8_cut(cuts[i].text, cuts[i].most), cuts[i].length);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_cuts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
