/* Names of regions. */
#include "provisioner-lib/region.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static void test_names(void **state)
{
    CLEANUP(freep) char *name = region_name(" West Europe\t2");

    (void)state;
    assert_string_equal(name, "westeurope2");
    assert_true(region_equal("West Europe", "westeurope"));
    assert_true(region_equal("", ""));
    assert_false(region_equal("West Europe", "westeurope2"));
    assert_false(region_equal("westus2", "West US"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
