/* When the next snapshot of a disk may be made. */
#include "controller/snapshot/quota.h"

#include "test/unit/expect.h"

#define MINUTE (60LL * 1000 * 1000)

static int64_t next(const int64_t *minutes, size_t n, int64_t now)
{
    int64_t taken[16];

    for (size_t i = 0; i < n; i++)
        taken[i] = minutes[i] * MINUTE;
    return snapshot_next_allowed_us(taken, n, now * MINUTE) / MINUTE;
}

static void test_seven_in_five_minutes(void **state)
{
    static const int64_t at_once[] = {10, 10, 10, 10, 10, 10, 10};
    static const int64_t apart[] = {12, 4, 10, 11, 9, 3, 8, 12, 12};

    (void)state;
    assert_int_equal(next(NULL, 0, 10), 10);
    assert_int_equal(next(at_once, 6, 10), 10);
    assert_int_equal(next(at_once, 7, 10), 15);
    assert_int_equal(next(at_once, 7, 14), 15);
    assert_int_equal(next(at_once, 7, 15), 15);
    assert_int_equal(next(at_once, 7, 20), 20);
    assert_int_equal(next(at_once, 7, 9), 9);               /* by a clock that is behind Azure's */
    assert_int_equal(next(apart, COUNT_OF(apart), 12), 13); /* the seventh of the latest was at 8 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_seven_in_five_minutes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
