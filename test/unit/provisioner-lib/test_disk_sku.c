/* Which disks can grow while a machine has them. */
#include "provisioner-lib/disk_sku.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static void test_growth_of_attached_disks(void **state)
{
    static const struct {
        const char *sku;
        int max_shares;
        int64_t from, to;
        bool expected;
    } rows[] = {
        {"Premium_LRS", 1, 4, 8, true},           {"Premium_LRS", 2, 4, 8, false},
        {"Premium_LRS", 1, 4000, 4095, true},     {"Premium_LRS", 1, 4095, 4096, false},
        {"Premium_LRS", 1, 4096, 4097, false},    {"Premium_LRS", 1, 8192, 16384, true},
        {"StandardSSD_ZRS", 1, 100, 5000, false}, {"PremiumV2_LRS", 1, 100, 5000, true},
        {"UltraSSD_LRS", 1, 100, 5000, true},     {"UltraSSD_LRS", 5, 100, 101, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(
            disk_grows_attached(rows[i].sku, rows[i].max_shares, rows[i].from, rows[i].to),
            rows[i].expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth_of_attached_disks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
