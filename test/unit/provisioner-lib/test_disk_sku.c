/* Which disks can grow while a machine has them, and what they can become. */
#include "provisioner-lib/disk_sku.h"

#include <string.h>
#include <strings.h>

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
        {"premiumv2_lrs", 1, 100, 5000, true},    {"PremiumV9_LRS", 1, 4, 8, true},
        {"PremiumV9_LRS", 1, 100, 5000, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(
            disk_grows_attached(rows[i].sku, rows[i].max_shares, rows[i].from, rows[i].to),
            rows[i].expected);
}

/* Azure may have kinds that this driver does not know, and a record may spell one otherwise. */
static void test_a_kind_that_is_not_known_has_no_limits_but_azures(void **state)
{
    struct disk_limits limits;

    (void)state;
    disk_limits_built_in("PremiumV9_LRS", 100, &limits);
    assert_int_equal(limits.most_gib, 65536);
    assert_int_equal(limits.max_shares, 0);
    assert_false(disk_sku_is_provisioned("PremiumV9_LRS"));
    assert_false(disk_sku_is_shareable("PremiumV9_LRS"));
    assert_true(disk_sku_is_shareable("PREMIUM_LRS"));
}

/* The last two: while a machine has it, and that caches it. */
static void test_what_a_disk_can_become(void **state)
{
    static const struct {
        const char *from, *to, *obstacle; /* a part of it; NULL: none */
        bool attached, cached;
    } rows[] = {
        {"Premium_LRS", "premium_lrs", NULL, true, true},
        {"Premium_LRS", "StandardSSD_LRS", NULL, false, false},
        {"Standard_LRS", "Premium_LRS", NULL, false, false},
        {"Premium_ZRS", "StandardSSD_ZRS", NULL, false, false},
        {"Premium_LRS", "PremiumV2_LRS", NULL, true, false},
        {"PremiumV2_LRS", "PremiumV2_LRS", NULL, true, true},
        {"PremiumV2_LRS", "Premium_LRS", "PremiumV2_LRS disk", false, false},
        {"UltraSSD_LRS", "PremiumV2_LRS", "UltraSSD_LRS", true, false},
        {"Premium_LRS", "UltraSSD_LRS", "UltraSSD_LRS", false, false},
        {"Premium_LRS", "Premium_ZRS", "zone-redundant", false, false},
        {"StandardSSD_ZRS", "StandardSSD_LRS", "zone-redundant", false, false},
        {"PremiumV9_LRS", "Premium_LRS", "does not know", false, false},
        {"PremiumV9_LRS", "PremiumV9_LRS", NULL, true, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *obstacle = disk_sku_change_obstacle(rows[i].from, rows[i].to);

        assert_int_equal(obstacle != NULL, rows[i].obstacle != NULL);
        assert_true(!obstacle || strstr(obstacle, rows[i].obstacle));
        assert_int_equal(disk_sku_changes_attached(rows[i].from, rows[i].to, 1, false),
                         rows[i].attached);
        assert_int_equal(disk_sku_changes_attached(rows[i].from, rows[i].to, 1, true),
                         rows[i].cached);
        assert_int_equal(disk_sku_changes_attached(rows[i].from, rows[i].to, 2, false),
                         strcasecmp(rows[i].from, rows[i].to) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_kind_that_is_not_known_has_no_limits_but_azures),
        cmocka_unit_test(test_what_a_disk_can_become),
        cmocka_unit_test(test_growth_of_attached_disks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
