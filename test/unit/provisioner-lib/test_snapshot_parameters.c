/* Each row is what a VolumeSnapshotClass says, and what comes of it. */
#include "provisioner-lib/snapshot_parameters.h"

#include "test/unit/expect.h"

static const struct {
    struct parameter parameters[3];
    const char *error; /* NULL: it is accepted */
} rows[] = {
    {{{"incremental", "TRUE"}, {"resourceGroup", "rg-1"}, {"userAgent", "x"}}, NULL},
    {{{"incremental", ""}, {"TAGS", "a=b;c=d,e"}, {"tagValueDelimiter", ";"}}, NULL},
    {{{"networkAccessPolicy", "AllowPrivate"}, {"diskAccessID", "/subscriptions/x"}}, NULL},
    {{{"incremental", "maybe"}}, "parameter incremental: \"maybe\" is neither true nor false"},
    {{{"skuName", "Premium_LRS"}}, "parameter skuName is unknown in a VolumeSnapshotClass"},
    {{{"resourceGroup", "a/b"}}, "parameter resourceGroup: \"a/b\" is not the name of a resource"},
    {{{"instantAccessDurationMinutes", "59"}}, "59 is not in the range from 60 to 300"},
    {{{"tags", "k8s-azure-created-by=me"}}, "parameter tags: tag k8s-azure-created-by is reserved"},
    {{{"tags", "k8s-azure-copy-of-disk=d"}}, "tag k8s-azure-copy-of-disk is reserved"},
    {{{"tags", "k8s-azure-copy-taken-at=now"}}, "tag k8s-azure-copy-taken-at is reserved"},
    {{{"location", "West Europe"}}, NULL},
    {{{"location", "west-europe"}},
     "parameter location: \"west-europe\" is not the name of a region"},
    {{{"location", " "}}, "parameter location names no region"},
    {{{"tags", "a"}}, "parameter tags: \"a\" is not of the form key=value"},
    {{{"networkAccessPolicy", "AllowPrivate"}}, "AllowPrivate requires diskAccessID"},
    {{{"dataAccessAuthMode", "All"}}, "\"All\" is not one of None, AzureActiveDirectory"},
};

static size_t count(const struct parameter *parameters)
{
    size_t n = 0;

    while (n < COUNT_OF(rows[0].parameters) && parameters[n].name)
        n++;
    return n;
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(snapshot_parameters_fini) struct snapshot_parameters parsed = {0};
        CLEANUP(err_freep)
        struct err *err =
            snapshot_parameters_parse(rows[i].parameters, count(rows[i].parameters), &parsed);

        if (!rows[i].error && err)
            fail_msg("row %zu: %s", i, err_message(err));
        if (rows[i].error && (!err || !strstr(err_message(err), rows[i].error)))
            fail_msg("row %zu: %s", i, err ? err_message(err) : "accepted");
    }
}

static void test_what_is_not_said(void **state)
{
    CLEANUP(snapshot_parameters_fini) struct snapshot_parameters parsed = {0};

    (void)state;
    assert_ok(snapshot_parameters_parse(NULL, 0, &parsed));
    assert_true(parsed.incremental);
    assert_null(parsed.resource_group);
    assert_int_equal(parsed.n_tags, 0);
}

/* Each row is what is asked for of a disk in eastus. */
static void test_what_a_disk_can_have(void **state)
{
    static const struct {
        struct parameter parameters[3];
        const char *sku, *error;
        bool is_copy;
    } disks[] = {
        {{{"incremental", "false"}}, "Premium_LRS", NULL, false},
        {{{"location", "East US"}, {"incremental", "false"}}, "Premium_LRS", NULL, false},
        {{{"location", "East US"}, {"instantAccessDurationMinutes", "60"}},
         "PremiumV2_LRS",
         NULL,
         false},
        {{{"location", "westus"}}, "Premium_LRS", NULL, true},
        {{{"location", "westus"}, {"incremental", "false"}},
         "Premium_LRS",
         "parameter incremental: the disk is in eastus, and Azure copies only incremental "
         "snapshots",
         true},
        {{{"location", "westus"}, {"instantAccessDurationMinutes", "60"}},
         "PremiumV2_LRS",
         "parameter instantAccessDurationMinutes: the disk is in eastus",
         true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(disks); i++) {
        CLEANUP(snapshot_parameters_fini) struct snapshot_parameters parsed = {0};

        assert_ok(
            snapshot_parameters_parse(disks[i].parameters, count(disks[i].parameters), &parsed));
        CLEANUP(err_freep)
        struct err *err = snapshot_parameters_check_disk(&parsed, disks[i].sku, "eastus");
        if (!err != !disks[i].error || (err && !strstr(err_message(err), disks[i].error)))
            fail_msg("row %zu: %s", i, err ? err_message(err) : "accepted");
        assert_int_equal(snapshot_parameters_is_copy(&parsed, "eastus"), disks[i].is_copy);
    }
}

/* The disk access is for the region of the copy. */
static void test_the_local_one(void **state)
{
    static const struct parameter list[] = {{"location", "West Europe"},
                                            {"networkAccessPolicy", "AllowPrivate"},
                                            {"diskAccessID", "/subscriptions/x"},
                                            {"resourceGroup", "rg"}};
    CLEANUP(snapshot_parameters_fini) struct snapshot_parameters parsed = {0};

    (void)state;
    assert_ok(snapshot_parameters_parse(list, COUNT_OF(list), &parsed));
    assert_string_equal(parsed.location, "westeurope");
    const struct snapshot_parameters local = snapshot_parameters_of_local(&parsed);
    assert_null(local.location);
    assert_null(local.disk_access);
    assert_string_equal(local.network_access, "DenyAll");
    assert_string_equal(local.resource_group, "rg");
    assert_true(local.incremental);
}

/* Azure allows 50, and the driver needs two more for a copy. */
static void test_number_of_tags(void **state)
{
    char text[50 * 6 + 1];

    (void)state;
    for (int most = 43; most <= 45; most += 2) {
        struct parameter list[] = {{"tags", text}, {"location", most == 43 ? "westus" : ""}};
        CLEANUP(snapshot_parameters_fini) struct snapshot_parameters good = {0}, bad = {0};
        size_t n = 0;

        for (int i = 0; i < most; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%st%02d=x", i ? "," : "", i);
        assert_ok(snapshot_parameters_parse(list, 2, &good));
        snprintf(text + n, sizeof text - n, ",t99=x");
        CLEANUP(err_freep) struct err *err = snapshot_parameters_parse(list, 2, &bad);
        assert_non_null(err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_what_is_not_said),
        cmocka_unit_test(test_what_a_disk_can_have),
        cmocka_unit_test(test_the_local_one),
        cmocka_unit_test(test_number_of_tags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
