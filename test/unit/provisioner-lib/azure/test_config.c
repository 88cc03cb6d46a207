/* Each row is an azure.json in YAML's short form, and what comes of it. */
#include "provisioner-lib/azure/config.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define BASE "tenantId: t, subscriptionId: s, resourceGroup: g, location: East US, "
#define SECRET "aadClientId: c, aadClientSecret: hidden"

static const struct {
    const char *text, *expected;
} rows[] = {
    {"{" BASE SECRET "}", "eastus https://management.azure.com https://login.microsoftonline.com "
                          "https://management.azure.com/ secret"},
    {"{" BASE "useManagedIdentityExtension: true}",
     "eastus https://management.azure.com https://login.microsoftonline.com "
     "https://management.azure.com/ identity"},
    {"{cloud: azureusgovernmentcloud, " BASE SECRET "}",
     "eastus https://management.usgovcloudapi.net https://login.microsoftonline.us "
     "https://management.usgovcloudapi.net/ secret"},
    {"{resourceManagerEndpoint: 'https://arm.local:8443/', " BASE SECRET "}",
     "eastus https://arm.local:8443 - - secret"},
    {"{" BASE SECRET ", vmType: vmss, unknownKey: [1, 2]}",
     "eastus https://management.azure.com https://login.microsoftonline.com "
     "https://management.azure.com/ secret"},

    {"{subscriptionId: s}", "tenantId is missing"},
    {"{tenantId: t}", "subscriptionId is missing"},
    {"{tenantId: t, subscriptionId: ''}", "subscriptionId is missing"},
    {"{tenantId: t, subscriptionId: s}", "resourceGroup is missing"},
    {"{tenantId: t, subscriptionId: s, resourceGroup: g}", "location is missing"},
    {"{" BASE "aadClientId: c}", "neither useManagedIdentityExtension nor both of aadClientId and "
                                 "aadClientSecret is given"},
    {"{cloud: Moon, " BASE SECRET "}", "cloud \"Moon\" is not known; give resourceManagerEndpoint "
                                       "for a cloud of your own"},
    {"{resourceManagerEndpoint: 'http://arm.local', " BASE SECRET "}",
     "resourceManagerEndpoint \"http://arm.local\" does not begin with https://"},
    {"{tenantId: 7}", "tenantId: expected a string, not such a number"},
    {"[]", "document: expected an object, not a list"},
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(azure_config_fini) struct azure_config c = {0};
        CLEANUP(err_freep)
        struct err *err = azure_config_parse(rows[i].text, strlen(rows[i].text), &c);
        CLEANUP(freep)
        char *got = err ? mem_strdup(err_message(err))
                        : mem_printf("%s %s %s %s %s", c.location, c.resource_manager,
                                     c.authority ? c.authority : "-", c.audience ? c.audience : "-",
                                     c.managed_identity ? "identity" : "secret");

        assert_string_equal(got, rows[i].expected);
        assert_null(strstr(got, "hidden"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
