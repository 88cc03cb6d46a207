/* When a fence that is on record is not there any more. */
#include "node/fence_watch.h"

#include "provisioner-lib/host/reservation.h"
#include "test/unit/expect.h"

#define KEY 0x0a0a0a0a00000001

/* While nobody holds a reservation nobody's writes are refused, and a release is under way. */
static void test_when_it_is_lost(void **state)
{
    (void)state;
    assert_true(fence_watch_is_lost(&(struct reservation){.held = true, .holder = KEY + 1}, KEY));
    assert_false(fence_watch_is_lost(&(struct reservation){.held = true, .holder = KEY}, KEY));
    assert_false(fence_watch_is_lost(&(struct reservation){.held = false}, KEY));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_when_it_is_lost)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
