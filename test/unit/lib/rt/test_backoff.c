#include "lib/rt/backoff.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static void test_pauses_double_up_to_the_most_and_vary(void **state)
{
    static const uint64_t pauses[] = {100, 200, 400, 800, 1000, 1000, 1000};
    struct random random = {.state = 1};
    bool varied = false;

    (void)state;
    for (int round = 0; round < 100; round++) {
        struct backoff backoff = {.least_ms = 100, .most_ms = 1000};

        for (size_t i = 0; i < COUNT_OF(pauses); i++) {
            uint64_t pause = backoff_next(&backoff, &random);

            assert_in_range(pause, pauses[i], pauses[i] + pauses[i] / 2);
            varied |= pause != pauses[i];
        }
        backoff_reset(&backoff);
        assert_in_range(backoff_next(&backoff, &random), 100, 150);
    }
    assert_true(varied);
}

static void test_any_number_of_attempts(void **state)
{
    struct backoff backoff = {.least_ms = 1, .most_ms = 30000, .attempts = 1000000};
    struct random random = {.state = 1};

    (void)state;
    assert_in_range(backoff_next(&backoff, &random), 30000, 45000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pauses_double_up_to_the_most_and_vary),
        cmocka_unit_test(test_any_number_of_attempts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
