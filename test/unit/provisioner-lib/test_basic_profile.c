/* What perfProfile basic asks for, by hand from its formulas. */
#include "provisioner-lib/basic_profile.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static const struct {
    const char *sku;
    int64_t size_gib;
    unsigned request_kib, queue_depth; /* 0: no profile */
} rows[] = {
    {"Premium_LRS", 1, 65, 11},        /* 64.8; 8.6 and 7.7 at once: 2 + 9 */
    {"premium_lrs", 512, 65, 11},      /* the largest that bursts */
    {"Premium_LRS", 513, 54, 16},      /* 53.3; 12.2 and 11: 3 + 13 */
    {"Premium_ZRS", 1024, 54, 16},     /* the same */
    {"Premium_LRS", 4096, 45, 24},     /* 44.4; 18.3 and 16.5: 5 + 19 */
    {"Premium_LRS", 4097, 42, 61},     /* 41.7; 48.8 and 44.8: 12 + 49 */
    {"Premium_LRS", 16384, 56, 78},    /* 55.6; 61.6 and 61.2: 16 + 62 */
    {"Premium_LRS", 32767, 60, 98},    /* 78 and 80: 20 + 78 */
    {"Premium_LRS", 32768, 0, 0},      /* there is no such disk */
    {"StandardSSD_LRS", 4, 160, 3},    /* 1.2 and 1.1: 1 + 2 */
    {"StandardSSD_ZRS", 4096, 160, 3}, /* the same */
    {"StandardSSD_LRS", 8192, 267, 9}, /* 266.7; 6.1 and 5.6: 2 + 7 */
    {"StandardSSD_LRS", 16384, 200, 18},
    {"StandardSSD_LRS", 32767, 167, 30}, /* 23.4 and 24: 6 + 24 */
    {"Standard_LRS", 128, 0, 0},
    {"PremiumV2_LRS", 128, 0, 0},
    {"UltraSSD_LRS", 128, 0, 0},
    {"", 128, 0, 0},
};

static void test_profiles(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct basic_profile profile = {0};
        bool has = basic_profile_of(rows[i].sku, rows[i].size_gib, &profile);

        if (has != (rows[i].queue_depth > 0) || profile.request_kib != rows[i].request_kib ||
            profile.queue_depth != rows[i].queue_depth)
            fail_msg("%s of %d GiB: requests of %u KiB, %u at once", rows[i].sku,
                     (int)rows[i].size_gib, profile.request_kib, profile.queue_depth);
    }
}

static void test_to_which_kinds_it_applies(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (rows[i].size_gib <= 32767)
            assert_int_equal(basic_profile_applies(rows[i].sku), rows[i].queue_depth > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profiles),
        cmocka_unit_test(test_to_which_kinds_it_applies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
