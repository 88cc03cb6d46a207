#include "lib/rpc/in_flight.h"

#include "test/unit/expect.h"

static void test_one_operation_at_a_time_for_each(void **state)
{
    struct in_flight set = {0};

    (void)state;
    assert_ok(in_flight_begin(&set, "a"));
    assert_ok(in_flight_begin(&set, "b"));
    for (int i = 0; i < 2; i++)
        assert_fails(in_flight_begin(&set, "a"), ERR_BUSY,
                     "an operation for a is already in progress");
    in_flight_end(&set, "a");
    assert_fails(in_flight_begin(&set, "b"), ERR_BUSY, "an operation for b is already in progress");
    assert_ok(in_flight_begin(&set, "a"));
    in_flight_end(&set, "b");
    in_flight_end(&set, "a");
    assert_int_equal(string_set_count(&set.keys), 0);
}

static void test_the_key_is_the_sets_own(void **state)
{
    struct in_flight set = {0};
    char text[] = "a";

    (void)state;
    assert_ok(in_flight_begin(&set, text));
    text[0] = 'b';
    assert_ok(in_flight_begin(&set, text));
    in_flight_end(&set, "a");
    in_flight_end(&set, "b");
}

static void test_what_has_not_begun_does_not_end(void **state)
{
    struct in_flight set = {0};

    (void)state;
    assert_dies(in_flight_end(&set, "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_operation_at_a_time_for_each),
        cmocka_unit_test(test_the_key_is_the_sets_own),
        cmocka_unit_test(test_what_has_not_begun_does_not_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
