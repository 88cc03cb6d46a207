/* The configuration file: what it says, and what is said of one that is wrong. */
#include "test/azsim/config.h"

#include <stdlib.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define TENANT "'tenantId': '11111111-1111-1111-1111-111111111111'"
#define FIRST "22222222-2222-2222-2222-222222222222"
#define SECOND "aaaaaaaa-4444-4444-4444-444444444444"
#define REST                                                                                       \
    "'location': 'eastus', 'clients': [{'clientId': '33333333-3333-3333-3333-333333333333', "      \
    "'clientSecret': 'x'}]"
#define BEFORE "{" TENANT ", 'subscriptionId': '" FIRST "', " REST ", 'resourceGroup': 'rg', "
#define OTHER "'otherSubscriptions': [{'subscriptionId': '" SECOND "', 'resourceGroup': 'Data'"
#define VM "{'name': 'a', 'size': 'Standard_B1s'"

/* Reads a file with this text, single quotes for double ones. */
static struct err *read_text(const char *text, struct config *ret, char **ret_path)
{
    char path[] = "/tmp/azsim-config-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");

    assert_non_null(file);
    for (; *text; text++)
        fputc(*text == '\'' ? '"' : *text, file);
    fclose(file);
    struct err *err = config_read(path, ret);
    unlink(path);
    *ret_path = mem_strdup(path);
    return err;
}

static void test_one_subscription(void **state)
{
    CLEANUP(config_finip) struct config config = {0};
    CLEANUP(freep) char *path = NULL;

    (void)state;
    assert_ok(
        read_text(BEFORE "'otherResourceGroups': ['disks'], 'vms': [" VM "}]}", &config, &path));
    assert_int_equal(config.n_subscriptions, 1);
    assert_string_equal(config.subscriptions[0].id, FIRST);
    assert_int_equal(config.subscriptions[0].n_groups, 2);
    assert_string_equal(config.subscriptions[0].groups[0], "rg");
    assert_string_equal(config.subscriptions[0].groups[1], "disks");
    assert_int_equal(config.n_vms, 1);
    assert_null(config.vms[0].subscription_id);
    assert_null(config.vms[0].resource_group);
}

static void test_several_subscriptions(void **state)
{
    CLEANUP(config_finip) struct config config = {0};
    CLEANUP(freep) char *path = NULL;

    (void)state;
    assert_ok(read_text(BEFORE OTHER ", 'otherResourceGroups': ['nodes']}], "
                                     "'vms': [" VM ", 'subscriptionId': '" SECOND
                                     "', 'resourceGroup': 'NODES'}]}",
                        &config, &path));
    assert_int_equal(config.n_subscriptions, 2);
    assert_string_equal(config.subscriptions[1].id, SECOND);
    assert_int_equal(config.subscriptions[1].n_groups, 2);
    assert_string_equal(config.subscriptions[1].groups[0], "Data");
    assert_string_equal(config.subscriptions[1].groups[1], "nodes");
    assert_string_equal(config.vms[0].subscription_id, SECOND);
    assert_string_equal(config.vms[0].resource_group, "NODES");
}

static void test_wrong_ones(void **state)
{
    static const struct {
        const char *text, *message; /* behind the file's name */
    } rows[] = {
        {BEFORE "'vms': [], 'otherSubscriptions': {}}", "otherSubscriptions: expected a list"},
        {BEFORE "'vms': [], 'otherSubscriptions': [{}]}",
         "otherSubscriptions[0].subscriptionId: missing; it is a UUID"},
        {BEFORE "'vms': [], 'otherSubscriptions': [{'subscriptionId': '" SECOND "'}]}",
         "otherSubscriptions[0].resourceGroup: missing; it is 1 to 90 letters, digits and '-', "
         "'_', "
         "'.', '(', ')'"},
        {BEFORE "'vms': [], 'otherSubscriptions': [{'subscriptionId': '" FIRST
                "', 'resourceGroup': 'x'}]}",
         "otherSubscriptions[0].subscriptionId: \"" FIRST "\" is there already"},
        {BEFORE "'vms': [], " OTHER ", 'vms': []}]}", "otherSubscriptions[0].vms: unknown member"},
        {BEFORE "'vms': [], " OTHER ", 'otherResourceGroups': ['a.']}]}",
         "otherSubscriptions[0].otherResourceGroups[0]: \"a.\" is not 1 to 90 letters, digits and "
         "'-', '_', '.', '(', ')'"},
        {BEFORE "'vms': [" VM ", 'subscriptionId': '" SECOND "'}]}",
         "vms[0].subscriptionId: \"" SECOND "\" is not in this file"},
        {BEFORE "'vms': [" VM ", 'resourceGroup': 'data'}], " OTHER "}]}",
         "vms[0].resourceGroup: \"data\" is no resource group of subscription " FIRST
         " in this file"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *path = NULL;
        struct config config;
        struct err *err = read_text(rows[i].text, &config, &path);
        CLEANUP(freep) char *message = mem_printf("%s: %s", path, rows[i].message);

        assert_fails(err, ERR_INVALID, message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_subscription),
        cmocka_unit_test(test_several_subscriptions),
        cmocka_unit_test(test_wrong_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
