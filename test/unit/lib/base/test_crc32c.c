/* The checksum, by its published check value and in pieces. */
#include "lib/base/crc32c.h"

#include "test/unit/expect.h"

static void test_check_value(void **state)
{
    (void)state;
    assert_int_equal(~crc32c(~UINT32_C(0), "123456789", 9), 0xe3069283);
    assert_int_equal(~crc32c(crc32c(~UINT32_C(0), "1234", 4), "56789", 5), 0xe3069283);
    assert_int_equal(crc32c(17, "", 0), 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_check_value)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
