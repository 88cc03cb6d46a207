#include "test/azsim/model/latency.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static void test_ranges_are_read_and_drawn_from(void **state)
{
    struct latencies latencies;
    struct random random = {.state = 7};
    uint64_t least = UINT64_MAX, most = 0;

    (void)state;
    latencies_init(&latencies);
    assert_ok(latencies_set(&latencies, "attach=30s,detach=4s-6s"));
    assert_int_equal(latency_draw(&latencies, LATENCY_ATTACH, &random), 30000);
    for (int i = 0; i < 100000; i++) {
        uint64_t drawn = latency_draw(&latencies, LATENCY_DETACH, &random);

        least = drawn < least ? drawn : least;
        most = drawn > most ? drawn : most;
    }
    assert_int_equal(least, 4000);
    assert_int_equal(most, 6000);

    json_t *json = latencies_json(&latencies);
    assert_string_equal(json_string_value(json_object_get(json, "attach")), "30s");
    assert_string_equal(json_string_value(json_object_get(json, "detach")), "4s-6s");
    json_decref(json);
}

static void test_faults_are_named_and_change_nothing(void **state)
{
    static const struct {
        const char *list, *message;
    } rows[] = {
        {"attach=30s,atach=1s", "\"atach\" is no kind of latency; there are create update delete "
                                "attach detach get accept token imds"},
        {"attach", "\"attach\": expected kind=time, such as attach=30s"},
        {"attach=30",
         "latency of attach: \"30\" is not a duration such as 300ms, 30s, 5m or 1h30m"},
        {"attach=3s-2s",
         "latency of attach: \"3s-2s\": the first time of a range is the shorter one"},
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
        cmocka_unit_test(test_faults_are_named_and_change_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
