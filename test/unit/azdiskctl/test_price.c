/* What a disk is sold as, and what it costs by a list of prices. */
#include "azdiskctl/price.h"

#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "test/unit/expect.h"

#define PRICES "P1_LRS=0.6,P10_LRS=19.71,E30_ZRS=100,PremiumV2_LRS=0.08,S4_LRS=0"

static const struct {
    const char *sku;
    int64_t gib;
    const char *price;
} disks[] = {
    {"Premium_LRS", 1, "{\"of\":\"P1_LRS\",\"units\":1,\"month\":0.6}"},
    {"Premium_LRS", 4, "{\"of\":\"P1_LRS\",\"units\":1,\"month\":0.6}"},
    {"Premium_LRS", 5, "{\"of\":\"P2_LRS\",\"units\":1}"},
    {"Premium_LRS", 100, "{\"of\":\"P10_LRS\",\"units\":1,\"month\":19.71}"},
    {"Premium_ZRS", 128, "{\"of\":\"P10_ZRS\",\"units\":1}"},
    {"Premium_LRS", 129, "{\"of\":\"P15_LRS\",\"units\":1}"},
    {"Premium_LRS", 32767, "{\"of\":\"P80_LRS\",\"units\":1}"},
    {"StandardSSD_ZRS", 1024, "{\"of\":\"E30_ZRS\",\"units\":1,\"month\":100.0}"},
    {"Standard_LRS", 4, "{\"of\":\"S4_LRS\",\"units\":1,\"month\":0.0}"},
    {"Standard_LRS", 64, "{\"of\":\"S6_LRS\",\"units\":1}"},
    {"PremiumV2_LRS", 100, "{\"of\":\"PremiumV2_LRS\",\"units\":100,\"month\":8.0}"},
    {"UltraSSD_LRS", 8, "{\"of\":\"UltraSSD_LRS\",\"units\":8}"},
    {"UltraSSD_LRS", 200, "{\"of\":\"UltraSSD_LRS\",\"units\":256}"},
    {"UltraSSD_LRS", 1024, "{\"of\":\"UltraSSD_LRS\",\"units\":1024}"},
    {"UltraSSD_LRS", 1025, "{\"of\":\"UltraSSD_LRS\",\"units\":2048}"},
    {"New_LRS", 8, "{\"of\":\"New_LRS\",\"units\":8}"},
};

static void test_disks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(disks); i++) {
        struct cloud_disk disk = {.sku = (char *)(uintptr_t)disks[i].sku,
                                  .size_bytes = disks[i].gib << 30};
        CLEANUP(json_decrefp) json_t *price = price_json(PRICES, &disk);
        CLEANUP(json_decrefp) json_t *expected = json_loads(disks[i].price, 0, NULL);

        if (!json_equal(price, expected))
            fail_msg("%s of %lld GiB: not %s", disks[i].sku, (long long)disks[i].gib,
                     disks[i].price);
    }
}

static void test_lists(void **state)
{
    static const char *const wrong[] = {
        "P10_LRS",     "P10_LRS=",      "=1",
        "P10_LRS=1,",  "P10_LRS=a",     "P10_LRS=-1",
        "P10_LRS=nan", "P10_LRS=1 USD", "P10_LRS=1;E10_LRS=2",
    };

    (void)state;
    assert_ok(prices_check(""));
    assert_ok(prices_check(PRICES));
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        CLEANUP(freep)
        char *expected = mem_printf("--prices: \"%s\" is not of the form "
                                    "P10_LRS=19.71,PremiumV2_LRS=0.08",
                                    wrong[i]);
        assert_fails(prices_check(wrong[i]), ERR_INVALID, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disks),
        cmocka_unit_test(test_lists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
