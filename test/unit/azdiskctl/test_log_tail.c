/* The newest whole lines of a log. */
#include "azdiskctl/log_tail.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

enum { MOST = 8 };

static const struct {
    const char *log, *tail;
} rows[] = {
    {"", ""},
    {"a\nb", "a\nb"},
    {"12345678", "12345678"},
    {"a\nbc\ndef\n", "bc\ndef\n"},
    {"a\n345678\n\n", "\n"},
    /* A line that is longer is no line that could be looked at. */
    {"secret=123456789", ""},
    {"secret=123456789\nb\n", "b\n"},
    {"a\nsecret=123456789\nb\nc", "b\nc"},
};

static void check(const char *log, size_t piece, const char *expected)
{
    CLEANUP(log_tail_fini) struct log_tail tail;
    size_t length = strlen(log);

    log_tail_init(&tail, MOST);
    for (size_t at = 0; at < length; at += piece) {
        size_t n = length - at < piece ? length - at : piece;
        CLEANUP(freep) char *copy = mem_copy(log + at, n);

        log_tail_add(&tail, copy, n);
        assert_true(tail.text.length <= 2 * MOST);
    }
    log_tail_end(&tail);
    assert_string_equal(tail.text.data ? tail.text.data : "", expected);
    assert_int_equal(tail.text.length, strlen(expected));
    assert_int_equal(tail.bytes, length);
}

static void test_in_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (size_t piece = 1; piece <= 20; piece++)
            check(rows[i].log, piece, rows[i].tail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
