#include "lib/base/duration.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static void test_parse(void **state)
{
    static const struct {
        const char *text;
        uint64_t ms;
    } rows[] = {
        {"0", 0},
        {"0s", 0},
        {"300ms", 300},
        {"30s", 30000},
        {"5m", 300000},
        {"1h30m", 5400000},
        {"1h0m0s", 3600000},
        {"1.5h", 5400000},
        {"0.1s", 100},
        {"2.s", 2000},
        {"1m1m", 120000},
        {"1h2m3s4ms", 3723004},
        {"1.4ms", 1},
        {"1.5ms", 2},
        {"0.000000000000000000001s", 0},
        {"007s", 7000},
        {"2562047h", 2562047 * 3600000ULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t ms;

        assert_ok(duration_parse(rows[i].text, &ms));
        if (ms != rows[i].ms)
            fail_msg("%s: got %llu", rows[i].text, (unsigned long long)ms);
    }
}

static void test_what_is_not_a_duration(void **state)
{
    static const char form[] = "is not a duration such as 300ms, 30s, 5m or 1h30m";
    static const char length[] = "is longer than 2562047h";
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", form},
        {"5", form},
        {"00", form},
        {"s", form},
        {"-5s", form},
        {"5 s", form},
        {" 5s", form},
        {"5s ", form},
        {"5d", form},
        {"5sec", form},
        {"5M", form},
        {"1h30", form},
        {".5s", form},
        {"1..5s", form},
        {"1e3s", form},
        {"5mss", form},
        {"0x5s", form},
        {"inf", form},
        {"2562047h1ms", length},
        {"99999999999999999999h", length},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *message = mem_printf("\"%s\" %s", rows[i].text, rows[i].why);
        uint64_t ms = 42;

        assert_fails(duration_parse(rows[i].text, &ms), ERR_INVALID, message);
        assert_int_equal(ms, 42);
    }
}

static void test_format_is_what_parse_reads(void **state)
{
    static const struct {
        uint64_t ms;
        const char *text;
    } rows[] = {
        {0, "0s"},          {1, "1ms"},
        {999, "999ms"},     {1000, "1s"},
        {90000, "1m30s"},   {5400000, "1h30m"},
        {3600001, "1h1ms"}, {2562047 * 3600000ULL, "2562047h"},
    };
    char text[DURATION_SIZE];
    uint64_t ms;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        duration_format(rows[i].ms, text);
        assert_string_equal(text, rows[i].text);
        assert_ok(duration_parse(text, &ms));
        assert_int_equal(ms, rows[i].ms);
    }
    duration_format(UINT64_MAX, text);
    assert_string_equal(text, "5124095576030h25m51s615ms");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_what_is_not_a_duration),
        cmocka_unit_test(test_format_is_what_parse_reads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
