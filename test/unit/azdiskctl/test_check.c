/* What is said of the prices of disks that no volume names. */
#include "azdiskctl/check.h"

#include "lib/base/alloc.h"
#include "test/unit/azdiskctl/cluster_of.h"

#define DISK(price)                                                                                \
    "{'severity':'warning','kind':'DiskWithoutVolume','subject':'d','seen':'s','meaning':'m',"     \
    "'loss':'l','advice':'a','price':" price "}"
#define SAID "warning: DiskWithoutVolume d\n  seen:   s\n  means:  m\n  loss:   l\n  to do:  a\n"
#define SCOPE                                                                                      \
    "; compared: custom resources, VolumeAttachments, Nodes, 3 VMs, 4 disks and 5 snapshots in "   \
    "Azure\n"

static void assert_text(const char *findings, const char *expected)
{
    CLEANUP(freep)
    char *json =
        mem_printf("{'findings':[%s],'azure':true,'machines':3,'disks':4,'snapshots':5}", findings);
    CLEANUP(json_decrefp) json_t *check = json_of(json);
    struct buffer out;

    buffer_init(&out, 1 << 16);
    check_text(check, &out);
    CLEANUP(freep) char *text = buffer_take(&out);
    assert_string_equal(text, expected);
}

static void test_prices(void **state)
{
    (void)state;
    assert_text("", "0 findings" SCOPE);
    assert_text(DISK("{'of':'P1_LRS','units':1}"), SAID "  price:  P1_LRS\n\n1 finding" SCOPE);
    assert_text(DISK("{'of':'P1_LRS','units':1,'month':0.6}"),
                SAID "  price:  P1_LRS: 0.60 per month\n\n"
                     "disks without a volume: 0.60 per month for 1\n1 finding" SCOPE);
    assert_text(DISK("{'of':'P1_LRS','units':1,'month':0.6}") "," DISK(
                    "{'of':'UltraSSD_LRS','units':8}") "," DISK("{'of':'PremiumV2_LRS','units':100,"
                                                                "'month':8.0}"),
                SAID
                "  price:  P1_LRS: 0.60 per month\n\n" SAID "  price:  UltraSSD_LRS, 8 GiB\n\n" SAID
                "  price:  PremiumV2_LRS, 100 GiB: 8.00 per month\n\n"
                "disks without a volume: 8.60 per month for 2, not counting 1 without a price\n"
                "3 findings" SCOPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_prices)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
