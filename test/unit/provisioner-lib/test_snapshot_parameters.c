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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_what_is_not_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
