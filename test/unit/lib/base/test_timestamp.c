#include "lib/base/timestamp.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static void test_format(void **state)
{
    static const struct {
        int64_t us;
        const char *seconds, *micros;
    } rows[] = {
        {0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z"},
        {1795251060000123, "2026-11-21T08:51:00Z", "2026-11-21T08:51:00.000123Z"},
        {1795251060999999, "2026-11-21T08:51:00Z", "2026-11-21T08:51:00.999999Z"},
        {-1, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999999Z"},
        {-1000000, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.000000Z"},
        {INT64_MAX, "294247-01-10T04:00:54Z", "294247-01-10T04:00:54.775807Z"},
        {INT64_MIN, "-290308-12-21T19:59:05Z", "-290308-12-21T19:59:05.224192Z"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[TIMESTAMP_SIZE];

        timestamp_format(rows[i].us, text);
        assert_string_equal(text, rows[i].seconds);
        timestamp_format_micro(rows[i].us, text);
        assert_string_equal(text, rows[i].micros);
    }
}

static void test_parse(void **state)
{
    static const struct {
        const char *text;
        int64_t us;
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-11-21T08:51:00Z", 1795251060000000},
        {"2026-11-21t08:51:00z", 1795251060000000},
        {"2026-11-21 08:51:00Z", 1795251060000000},
        {"2026-11-21T08:51:00.000123Z", 1795251060000123},
        {"2026-11-21T08:51:00.5Z", 1795251060500000},
        {"2026-11-21T08:51:00.1234567Z", 1795251060123456},   /* Azure */
        {"2026-11-21T08:51:00.999999999Z", 1795251060999999}, /* Go */
        {"2026-11-21T08:51:00+00:00", 1795251060000000},
        {"2026-11-21T10:21:00+01:30", 1795251060000000},
        {"2026-11-21T00:51:00.25-08:00", 1795251060250000},
        {"2024-02-29T00:00:00Z", 1709164800000000},
        {"1969-12-31T23:59:59.999999Z", -1},
        {"0001-01-01T00:00:00Z", -62135596800000000}, /* Go's zero time */
        {"9999-12-31T23:59:59Z", 253402300799000000},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t us;

        assert_ok(timestamp_parse(rows[i].text, &us));
        if (us != rows[i].us)
            fail_msg("%s: got %lld", rows[i].text, (long long)us);
    }
}

static void test_what_is_not_a_time(void **state)
{
    static const char form[] = " such as 2026-11-21T08:51:00Z", day[] = ": there is no such day";
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", form},
        {"2026-11-21", form},
        {"2026-11-21T08:51Z", form},
        {"2026-11-21T08:51:00", form},
        {"2026-11-21T08:51:00 Z", form},
        {"2026-11-21T08:51:00Zulu", form},
        {"2026-11-21T08:51:00.Z", form},
        {"2026-11-21T08:51:00.1234567890Z", form},
        {"2026-11-21T24:00:00Z", form},
        {"2026-11-21T08:60:00Z", form},
        {"2026-11-21T08:51:60Z", form},
        {"2026-13-21T08:51:00Z", form},
        {"2026-11-32T08:51:00Z", form},
        {"2026-1-21T08:51:00Z", form},
        {" 2026-11-21T08:51:00Z", form},
        {"+026-11-21T08:51:00Z", form},
        {"2026-11-21T 8:51:00Z", form},
        {"2026-11-21T08:51:00+0100", form},
        {"2026-11-21T08:51:00+1:00", form},
        {"2026-11-21T08:51:00+01:-0", form},
        {"2026-11-21T08:51:00+24:00", form},
        {"2026-11-21T08:51:00+01:60", form},
        {"2026-11-21T08:51:00+01:00Z", form},
        {"2026-02-29T08:51:00Z", day},
        {"2026-04-31T08:51:00Z", day},
        {"2026-11-00T08:51:00Z", day},
        {"2026-00-21T08:51:00Z", day},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep)
        char *message = mem_printf("\"%s\" is not a time%s", rows[i].text, rows[i].why);
        int64_t us = 42;

        assert_fails(timestamp_parse(rows[i].text, &us), ERR_INVALID, message);
        assert_int_equal(us, 42);
    }
}

static void test_what_is_written_can_be_read(void **state)
{
    (void)state;
    /* from the beginning of the year 0 */
    for (int64_t us = -62167219200000000; us < 253402300800000000; us += 1234567890123457) {
        char text[TIMESTAMP_SIZE];
        int64_t got;

        timestamp_format_micro(us, text);
        assert_ok(timestamp_parse(text, &got));
        assert_true(got == us);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_what_is_not_a_time),
        cmocka_unit_test(test_what_is_written_can_be_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
