#include "test/azsim/model/latency.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

enum { DRAWS = 100000 };

static void test_ranges_are_read_and_drawn_from(void **state)
{
    struct latencies latencies;
    struct random random = {.state = 7};
    uint64_t least = UINT64_MAX, most = 0;

    (void)state;
    latencies_init(&latencies);
    assert_ok(latencies_set(&latencies, "attach=30s,detach=4s-6s"));
    assert_int_equal(latency_draw(&latencies, LATENCY_ATTACH, &random), 30000);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t drawn = latency_draw(&latencies, LATENCY_DETACH, &random);

        least = drawn < least ? drawn : least;
        most = drawn > most ? drawn : most;
    }
    assert_int_equal(least, 4000);
    assert_int_equal(most, 6000);
}

static int compare(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

    return a < b ? -1 : a > b;
}

/* Of so many draws a percentile is found to within a few percent. */
static void test_a_distribution_has_its_percentiles(void **state)
{
    static uint64_t drawn[DRAWS];
    struct latencies latencies;
    struct random random = {.state = 7};

    (void)state;
    latencies_init(&latencies);
    assert_ok(latencies_set(&latencies, "detach=8s/25s/120s"));
    for (int i = 0; i < DRAWS; i++)
        drawn[i] = latency_draw(&latencies, LATENCY_DETACH, &random);
    qsort(drawn, DRAWS, sizeof *drawn, compare);
    assert_in_range(drawn[DRAWS / 2], 7900, 8100);
    assert_in_range(drawn[DRAWS / 100 * 95], 24000, 26000);
    assert_in_range(drawn[DRAWS / 100 * 99], 112000, 128000);
    assert_in_range(drawn[DRAWS / 100 * 5], 8 * 8000 / 26, 8 * 8000 / 24); /* as far below */
    assert_true(drawn[DRAWS - 1] < 8 * 120 * 1000);
}

static void test_a_time_factor(void **state)
{
    struct latencies latencies;
    struct random random = {.state = 7};

    (void)state;
    latencies_init(&latencies);
    assert_ok(latencies_set(&latencies, "attach=30s"));
    assert_ok(latencies_set_time_factor(&latencies, "0.01"));
    assert_int_equal(latency_draw(&latencies, LATENCY_ATTACH, &random), 300);
    assert_fails(latencies_set_time_factor(&latencies, "0"), ERR_INVALID,
                 "\"0\" is not a number from 0.001 to 1000");
    assert_fails(latencies_set_time_factor(&latencies, "1x"), ERR_INVALID,
                 "\"1x\" is not a number from 0.001 to 1000");
    assert_int_equal(latency_draw(&latencies, LATENCY_ATTACH, &random), 300);
}

static void test_they_are_written_as_they_are_read(void **state)
{
    static const char *const texts[] = {"0s", "30s", "4s-6s", "10s/30s/1m30s"};
    struct latencies latencies;

    (void)state;
    latencies_init(&latencies);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assert_ok(latency_set(&latencies, "attach", texts[i]));
        json_t *json = latencies_json(&latencies);
        assert_string_equal(json_string_value(json_object_get(json, "attach")), texts[i]);
        json_decref(json);
    }
}

static void test_faults_are_named_and_change_nothing(void **state)
{
#define NAME(kind, name, text, what) " " name
#define FORM                                                                                       \
    ": expected a time, the ends of a range such as 4s-6s, or median, 95th and 99th percentile "   \
    "such as 10s/30s/90s"
    static const struct {
        const char *list, *message;
    } rows[] = {
        {"attach=30s,atach=1s",
         "\"atach\" is not a kind of latency; it must be one of" LATENCY_KINDS(NAME)},
        {"attach", "\"attach\": expected kind=time, such as attach=30s"},
        {"attach=30",
         "latency of attach: \"30\" is not a duration such as 300ms, 30s, 5m or 1h30m"},
        {"attach=3s-2s", "latency of attach: \"3s-2s\": times must be in ascending order"},
        {"attach=3s/2s/4s", "latency of attach: \"3s/2s/4s\": times must be in ascending order"},
        {"attach=0s/2s/4s", "latency of attach: \"0s/2s/4s\": the median must be more than 0"},
        {"attach=1s/2s", "latency of attach: \"1s/2s\"" FORM},
        {"attach=1s/2s/3s/4s", "latency of attach: \"1s/2s/3s/4s\"" FORM},
        {"attach=1s-2s-3s", "latency of attach: \"1s-2s-3s\"" FORM},
    };
    struct latencies latencies, before;

    (void)state;
    latencies_init(&latencies);
    before = latencies;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_fails(latencies_set(&latencies, rows[i].list), ERR_INVALID, rows[i].message);
        assert_memory_equal(&latencies, &before, sizeof before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges_are_read_and_drawn_from),
        cmocka_unit_test(test_a_distribution_has_its_percentiles),
        cmocka_unit_test(test_a_time_factor),
        cmocka_unit_test(test_they_are_written_as_they_are_read),
        cmocka_unit_test(test_faults_are_named_and_change_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
