/* Each row is what a StorageClass says, as "name=value;...", and what comes of it. */
#include "provisioner-lib/parameters.h"

#include <inttypes.h>
#include <stdlib.h>

#include "test/unit/expect.h"

enum { MAX_PARAMETERS = 8 };

static const struct {
    const char *text;
    bool multi_node;
    const char *expected; /* "sku shares/replicas caching fs", or the error */
} rows[] = {
    {"", false, "StandardSSD_LRS 1/0 ReadOnly ext4"},
    {"skuName=Premium_LRS;maxShares=3", false, "Premium_LRS 3/2 None ext4"},
    {"SKUNAME=Premium_LRS;MAXSHARES=3", false, "Premium_LRS 3/2 None ext4"},
    {"storageAccountType=Premium_ZRS;fsType=xfs", false, "Premium_ZRS 1/0 ReadOnly xfs"},
    {"maxShares=3;maxMountReplicaCount=0", false, "StandardSSD_LRS 3/0 None ext4"},
    {"maxShares=3;maxMountReplicaCount=1", false, "StandardSSD_LRS 3/1 None ext4"},
    {"maxShares=3", true, "StandardSSD_LRS 3/0 None ext4"},
    {"maxShares=15;skuName=UltraSSD_LRS", false, "UltraSSD_LRS 15/14 None ext4"},
    {"cachingMode=ReadWrite", false, "StandardSSD_LRS 1/0 ReadWrite ext4"},
    {"cachingMode=None;maxShares=2", false, "StandardSSD_LRS 2/1 None ext4"},
    {"kind=Managed;zoned=true;perfProfile=none", false, "StandardSSD_LRS 1/0 ReadOnly ext4"},
    {"skuName=UltraSSD_LRS;diskIOPSReadWrite=2000;diskMBpsReadWrite=300;logicalSectorSize=512",
     false, "UltraSSD_LRS 1/0 None ext4"},
    {"tags=a=b,c/d=e", false, "StandardSSD_LRS 1/0 ReadOnly ext4"},

    {"maxShares=0", false, "parameter maxShares: 0 is outside of 1 to 15"},
    {"maxShares=16", false, "parameter maxShares: 16 is outside of 1 to 15"},
    {"maxShares=two", false, "parameter maxShares: \"two\" is not a whole number"},
    {"maxShares=", false, "parameter maxShares: \"\" is not a whole number"},
    {"maxMountReplicaCount=1", false,
     "parameter maxMountReplicaCount: 1 is outside of 0 to 0 (maxShares - 1)"},
    {"maxShares=3;maxMountReplicaCount=3", false,
     "parameter maxMountReplicaCount: 3 is outside of 0 to 2 (maxShares - 1)"},
    {"maxMountReplicaCount=-1", false, "parameter maxMountReplicaCount: -1 is outside of 0 to 14"},
    {"skuName=premium_lrs", false,
     "parameter skuName: \"premium_lrs\" is none of Standard_LRS, StandardSSD_LRS, "
     "StandardSSD_ZRS, Premium_LRS, Premium_ZRS, UltraSSD_LRS, PremiumV2_LRS"},
    {"skuName=Standard_LRS;maxShares=2", false,
     "parameter maxShares: Standard_LRS disks cannot be shared"},
    {"cachingMode=readonly", false,
     "parameter cachingMode: \"readonly\" is none of None, ReadOnly, ReadWrite"},
    {"cachingMode=ReadOnly;maxShares=2", false,
     "parameter cachingMode: \"ReadOnly\" is not possible with a disk with maxShares above 1: only "
     "None is"},
    {"cachingMode=ReadOnly;skuName=PremiumV2_LRS", false,
     "parameter cachingMode: \"ReadOnly\" is not possible with PremiumV2_LRS: only None is"},
    {"fsType=btrfs", false, "parameter fsType: \"btrfs\" is none of ext4, xfs"},
    {"diskIOPSReadWrite=100", false,
     "parameter diskIOPSReadWrite: not for StandardSSD_LRS disks, only for UltraSSD_LRS and "
     "PremiumV2_LRS"},
    {"logicalSectorSize=1024;skuName=UltraSSD_LRS", false,
     "parameter logicalSectorSize: \"1024\" is none of 512, 4096"},
    {"enableBursting=maybe", false,
     "parameter enableBursting: \"maybe\" is neither true nor false"},
    {"tags=a", false, "parameter tags: \"a\" is not of the form key=value[,key=value...]"},
    {"tags==b", false, "parameter tags: \"=b\" is not of the form key=value[,key=value...]"},
    {"diskEncryptionType=EncryptionAtRestWithCustomerKey", false,
     "parameter diskEncryptionType needs diskEncryptionSetID"},
    {"diskEncryptionSetID=des", false,
     "parameter diskEncryptionSetID: \"des\" does not begin with /subscriptions/"},
    {"networkAccessPolicy=AllowPrivate", false,
     "parameter diskAccessID belongs to networkAccessPolicy AllowPrivate, and the reverse"},
    {"kind=dedicated", false, "parameter kind: \"dedicated\" is none of managed, Managed"},
    {"perfProfile=basic", false, "parameter perfProfile: \"basic\" is none of none, None"},
    {"maxShare=3", false, "parameter maxShare is not known"},
    {"", true, "parameter maxShares: access from several nodes needs 2 or more"},
};

static size_t split(char *text, struct parameter *list)
{
    char *item, *rest = text;
    size_t n = 0;

    while (*text && (item = strsep(&rest, ";"))) {
        char *equals = strchr(item, '=');

        *equals = '\0';
        list[n++] = (struct parameter){item, equals + 1};
    }
    return n;
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *text = mem_strdup(rows[i].text);
        CLEANUP(volume_parameters_fini) struct volume_parameters p = {0};
        struct parameter list[MAX_PARAMETERS];
        size_t n = split(text, list);
        CLEANUP(err_freep)
        struct err *err = volume_parameters_parse(list, n, rows[i].multi_node, &p);
        CLEANUP(freep)
        char *got =
            err ? mem_strdup(err_message(err))
                : mem_printf("%s %d/%d %s %s", p.sku, p.max_shares, p.max_mount_replica_count,
                             caching_mode_name(p.caching), p.fs_type);

        if (strcmp(got, rows[i].expected) != 0)
            fail_msg("%s: expected \"%s\", got \"%s\"", rows[i].text, rows[i].expected, got);
        if (err)
            assert_int_equal(err_kind(err), ERR_INVALID);
    }
}

static void test_tags(void **state)
{
    const struct parameter list[] = {{"tags", "a=b,c/d=e/f"}};
    CLEANUP(volume_parameters_fini) struct volume_parameters p = {0};

    (void)state;
    assert_ok(volume_parameters_parse(list, 1, false, &p));
    assert_int_equal(p.n_tags, 2);
    assert_string_equal(p.tags[0].name, "a");
    assert_string_equal(p.tags[1].name, "c-d");
    assert_string_equal(p.tags[1].value, "e/f");
}

static void test_sizes(void **state)
{
    static const struct {
        const char *sku, *shares;
        int64_t gib;
        const char *error; /* NULL: possible */
    } sizes[] = {
        {"Premium_LRS", "3", 512, NULL},
        {"Premium_LRS", "4", 512,
         "parameter maxShares: 4 is more than the 3 that a Premium_LRS disk of 512 GiB allows"},
        {"Premium_LRS", "5", 513, NULL},
        {"Premium_LRS", "10", 4097, NULL},
        {"StandardSSD_ZRS", "6", 4096,
         "parameter maxShares: 6 is more than the 5 that a StandardSSD_ZRS disk of 4096 GiB "
         "allows"},
        {"UltraSSD_LRS", "15", 4, NULL},
        {"Premium_LRS", "1", 32767, NULL},
        {"Premium_LRS", "1", 32768, "a size of 32768 GiB: Premium_LRS disks have at most 32767"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        const struct parameter list[] = {{"skuName", sizes[i].sku}, {"maxShares", sizes[i].shares}};
        CLEANUP(volume_parameters_fini) struct volume_parameters p = {0};

        assert_ok(volume_parameters_parse(list, 2, false, &p));
        struct err *err = volume_parameters_check_size(&p, sizes[i].gib);
        if (sizes[i].error)
            assert_fails(err, ERR_INVALID, sizes[i].error);
        else
            assert_ok(err);
    }
}

static void test_unknown_ones_can_be_dropped(void **state)
{
    struct parameter list[] = {{"requestedsizegib", "4"}, {"maxshares", "2"}, {"x", "y"}};

    (void)state;
    assert_int_equal(parameters_keep_known(list, 3), 1);
    assert_string_equal(list[0].name, "maxshares");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_unknown_ones_can_be_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
