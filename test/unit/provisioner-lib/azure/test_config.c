/* Each row is an azure.json, mostly in YAML's short form, and what comes of it. */
#include "provisioner-lib/azure/config.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "provisioner-lib/azure/cloud_endpoints.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/key_pair.h"

#define BASE "tenantId: t, subscriptionId: s, resourceGroup: g, location: East US, "
#define SECRET "aadClientId: c, aadClientSecret: hidden"

static char folder[] = "/tmp/test_config_XXXXXX";

static const char *const identities[] = {
    [AZURE_CLIENT_SECRET] = "secret",
    [AZURE_CLIENT_CERTIFICATE] = "certificate",
    [AZURE_WORKLOAD_IDENTITY] = "workload",
    [AZURE_MANAGED_IDENTITY] = "managed",
};

static const char *or_none(const char *text)
{
    return text ? text : "-";
}

/* What comes of a text, in one line. */
static char *outcome(const char *text)
{
    CLEANUP(azure_config_fini) struct azure_config c = {0};
    CLEANUP(err_freep) struct err *err = azure_config_parse(text, strlen(text), &c);

    if (err)
        return mem_strdup(err_message(err));
    return mem_printf("%s %s%s%s client=%s user=%s token=%s stack=%d unknown=%s",
                      identities[c.identity], c.resource_manager, c.discover ? " ? " : " ",
                      c.discover ? "" : c.audience, or_none(c.client_id), or_none(c.user_assigned),
                      or_none(c.token_file), c.azure_stack, or_none(c.unknown_keys));
}

static void expect_outcome(const char *text, const char *expected)
{
    CLEANUP(freep) char *got = outcome(text);

    if (strcmp(got, expected) != 0)
        fail_msg("%s\n  is %s\n  not %s", text, got, expected);
    assert_null(strstr(got, "hidden"));
}

#define USUAL " https://management.azure.com https://management.azure.com/"

static const struct {
    const char *text, *expected;
} rows[] = {
    {"{" BASE SECRET "}", "secret" USUAL " client=c user=- token=- stack=0 unknown=-"},
    {"{\"tenantId\": \"t\", \"subscriptionId\": \"s\", \"resourceGroup\": \"g\", "
     "\"location\": \"eastus\", \"aadClientId\": \"c\", \"aadClientSecret\": \"hidden\"}",
     "secret" USUAL " client=c user=- token=- stack=0 unknown=-"},
    {"{" BASE "useManagedIdentityExtension: true, userAssignedIdentityID: '', aadClientId: msi, "
     "aadClientSecret: msi}",
     "managed" USUAL " client=msi user=- token=- stack=0 unknown=-"},
    {"{" BASE "useManagedIdentityExtension: true, userAssignedIdentityID: /subscriptions/x}",
     "managed" USUAL " client=- user=/subscriptions/x token=- stack=0 unknown=-"},
    {"{" BASE "useFederatedWorkloadIdentityExtension: true, useManagedIdentityExtension: true, "
     "aadClientId: c}",
     "workload" USUAL " client=c user=- "
     "token=/var/run/secrets/azure/tokens/azure-identity-token stack=0 unknown=-"},
    {"{" BASE "useFederatedWorkloadIdentityExtension: true, aadClientId: c, "
     "aadFederatedTokenFile: /token}",
     "workload" USUAL " client=c user=- token=/token stack=0 unknown=-"},

    {"{" BASE SECRET ", extendedLocationName: edge}",
     "extendedLocationName and extendedLocationType must be set together"},
    {"{" BASE SECRET ", extendedLocationName: edge, extendedLocationType: EdgeZone}",
     "secret" USUAL " client=c user=- token=- stack=0 unknown=-"},

    /* names of keys */
    {"{TENANTID: t, subscriptionid: s, resourceGroup: g, location: x, aadClientID: c, "
     "aadClientSecret: hidden}",
     "secret" USUAL " client=c user=- token=- stack=0 unknown=-"},
    {"{" BASE SECRET ", vmType: vmss, vnetName: v, loadBalancerSku: standard, userAgent: null, "
     "cloudProviderBackoff: true, routeRateLimit: {cloudProviderRateLimit: true}}",
     "secret" USUAL " client=c user=- token=- stack=0 unknown=-"},
    {"{" BASE SECRET ", aadClientPassword: hidden, zone: [1, 2]}",
     "secret" USUAL " client=c user=- token=- stack=0 unknown=aadClientPassword, zone"},

    /* clouds */
    {"{cloud: azureusgovernmentcloud, " BASE SECRET "}",
     "secret https://management.usgovcloudapi.net https://management.usgovcloudapi.net/ client=c "
     "user=- token=- stack=0 unknown=-"},
    {"{cloud: AZURECHINACLOUD, " BASE SECRET "}",
     "secret https://management.chinacloudapi.cn https://management.chinacloudapi.cn/ client=c "
     "user=- token=- stack=0 unknown=-"},
    {"{resourceManagerEndpoint: 'https://arm.local:8443//', " BASE SECRET "}",
     "secret https://arm.local:8443 ?  client=c user=- token=- stack=0 unknown=-"},
    {"{cloud: AzureStackCloud, resourceManagerEndpoint: 'https://arm.local', " BASE SECRET "}",
     "secret https://arm.local ?  client=c user=- token=- stack=1 unknown=-"},
    {"{cloud: AzureStackCloud, disableAzureStackCloud: true, resourceManagerEndpoint: "
     "'https://arm.local', " BASE SECRET "}",
     "secret https://arm.local ?  client=c user=- token=- stack=0 unknown=-"},

    /* what is wrong */
    {"{subscriptionId: s}", "tenantId is missing"},
    {"{tenantId: t, subscriptionId: ''}", "subscriptionId is missing"},
    {"{tenantId: t, subscriptionId: s}", "resourceGroup is missing"},
    {"{tenantId: t, subscriptionId: s, resourceGroup: g}", "location is missing"},
    {"{tenantId: 'a/b', subscriptionId: s, resourceGroup: g, location: x}",
     "tenantId \"a/b\" contains a character other than letters, digits and any of -."},
    {"{tenantId: t, subscriptionId: 's?', resourceGroup: g, location: x}",
     "subscriptionId \"s?\" contains a character other than letters, digits and any of -"},
    {"{" BASE "aadClientId: c}",
     "none of useFederatedWorkloadIdentityExtension, useManagedIdentityExtension, aadClientSecret "
     "and aadClientCertPath is set"},
    {"{" BASE "aadClientSecret: hidden}", "aadClientId is missing"},
    {"{" BASE "useFederatedWorkloadIdentityExtension: true}",
     "useFederatedWorkloadIdentityExtension requires aadClientId, or environment variable "
     "AZURE_CLIENT_ID"},
    {"{" BASE "aadClientId: c, aadClientCertPath: /none}",
     "aadClientCertPath: /none: No such file or directory"},
    {"{" BASE SECRET ", vmType: big}", "vmType \"big\" is not one of standard, vmss, vmssflex"},
    {"{" BASE SECRET ", identitySystem: adfs}",
     "identitySystem \"adfs\" is not supported; the only supported one is azure_ad"},
    {"{cloud: Moon, " BASE SECRET "}",
     "cloud \"Moon\" is not known; for another cloud, set resourceManagerEndpoint, or "
     "AZURE_ENVIRONMENT_FILEPATH to the path of a file"},
    {"{resourceManagerEndpoint: 'http://arm.local', " BASE SECRET "}",
     "resourceManagerEndpoint \"http://arm.local\" does not begin with https://"},
    {"{tenantId: 7}", "tenantId: expected a string"},
    {"{aadClientSecret: [hidden]}", "aadClientSecret: expected a string"},
    {"{useManagedIdentityExtension: 'hidden'}",
     "useManagedIdentityExtension: expected true or false"},
    {"[]", "document: expected an object"},
    {"", "document: expected an object"},
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        expect_outcome(rows[i].text, rows[i].expected);
}

/* Where an application's secret goes. */
static void test_each_cloud_has_an_authority_of_its_own(void **state)
{
    static const struct {
        const char *cloud, *authority;
    } clouds[] = {
        {"AzurePublicCloud", "https://login.microsoftonline.com"},
        {"AzureCloud", "https://login.microsoftonline.com"},
        {"AzureUSGovernmentCloud", "https://login.microsoftonline.us"},
        {"AzureUSGovernment", "https://login.microsoftonline.us"},
        {"AzureChinaCloud", "https://login.chinacloudapi.cn"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(clouds); i++) {
        CLEANUP(azure_config_fini) struct azure_config c = {0};
        CLEANUP(freep) char *text = mem_printf("{cloud: %s, " BASE SECRET "}", clouds[i].cloud);

        assert_ok(azure_config_parse(text, strlen(text), &c));
        assert_string_equal(c.authority, clouds[i].authority);
    }
}

static void test_location(void **state)
{
    static const char text[] = "{" BASE SECRET "}";
    CLEANUP(azure_config_fini) struct azure_config config = {0};

    (void)state;
    assert_ok(azure_config_parse(text, strlen(text), &config));
    assert_string_equal(config.location, "eastus");
}

/* ---- the environment ---- */

static const char *const variables[] = {
    "AZURE_TENANT_ID",
    "AZURE_CLIENT_ID",
    "AZURE_CLIENT_SECRET",
    "AZURE_AUTHORITY_HOST",
    "AZURE_ENVIRONMENT_FILEPATH",
    "AZURE_FEDERATED_TOKEN_FILE",
};

static int clear_environment(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(variables); i++)
        unsetenv(variables[i]);
    return 0;
}

static void test_the_environment_goes_before_the_file(void **state)
{
    static const char text[] = "{" BASE SECRET "}";
    CLEANUP(azure_config_fini) struct azure_config config = {0};

    (void)state;
    setenv("AZURE_TENANT_ID", "T", 1);
    setenv("AZURE_CLIENT_SECRET", "S", 1);
    setenv("AZURE_CLIENT_ID", "", 1); /* the same as not there */
    setenv("AZURE_AUTHORITY_HOST", "https://login.local/", 1);
    assert_ok(azure_config_parse(text, strlen(text), &config));
    assert_string_equal(config.tenant, "T");
    assert_string_equal(config.client_id, "c");
    assert_string_equal(config.client_secret, "S");
    assert_string_equal(config.authority, "https://login.local");
    assert_int_equal(config.identity, AZURE_CLIENT_SECRET);

    setenv("AZURE_AUTHORITY_HOST", "login.local", 1);
    expect_outcome(text, "AZURE_AUTHORITY_HOST \"login.local\" does not begin with https://");
}

static void test_the_webhook_of_workload_identity(void **state)
{
    (void)state;
    setenv("AZURE_CLIENT_ID", "w", 1);
    setenv("AZURE_FEDERATED_TOKEN_FILE", "/t", 1);
    expect_outcome("{" BASE "useManagedIdentityExtension: true}",
                   "workload" USUAL " client=w user=- token=/t stack=0 unknown=-");
}

/* ---- clouds of one's own ---- */

static char *write_file(const char *name, const char *text)
{
    char *path = mem_printf("%s/%s", folder, name);
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static void test_an_environment_file(void **state)
{
    static const struct {
        const char *file, *expected;
    } files[] = {
        {"{\"resourceManagerEndpoint\": \"https://m.stack/\", \"tokenAudience\": \"https://a\", "
         "\"activeDirectoryEndpoint\": \"https://ad.stack/\", \"graphEndpoint\": \"x\"}",
         "secret https://m.stack https://a client=c user=- token=- stack=1 unknown=-"},
        {"{\"resourceManagerEndpoint\": \"https://m.stack/\", \"tokenAudience\": \"https://a\"}",
         "secret https://m.stack ?  client=c user=- token=- stack=1 unknown=-"},
        {"{\"resourceManagerEndpoint\": \"https://m.stack/\"}",
         "resourceManagerEndpoint and tokenAudience must be set together"},
        {"{\"resourceManagerEndpoint\": \"m\", \"tokenAudience\": \"a\"}",
         "resourceManagerEndpoint \"m\" does not begin with https://"},
        {"{\"tokenAudience\": 3}", "tokenAudience: expected a string, not this number"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        CLEANUP(freep) char *path = write_file("stack.json", files[i].file);
        CLEANUP(freep)
        char *expected =
            strncmp(files[i].expected, "secret", 6) == 0
                ? mem_strdup(files[i].expected)
                : mem_printf("AZURE_ENVIRONMENT_FILEPATH %s: %s", path, files[i].expected);

        setenv("AZURE_ENVIRONMENT_FILEPATH", path, 1);
        expect_outcome("{cloud: AzureStackCloud, " BASE SECRET "}", expected);
    }
}

static void test_what_resource_manager_says(void **state)
{
    static const struct {
        const char *cloud, *json, *expected;
    } answers[] = {
        {"B",
         "[{\"name\":\"a\",\"authentication\":{\"loginEndpoint\":\"https://la/\",\"audiences\""
         ":[\"https://aa\"]}},{\"name\":\"b\",\"authentication\":{\"loginEndpoint\":"
         "\"https://lb\",\"audiences\":[\"https://ab\",\"x\"]}}]",
         "https://lb https://ab"},
        {"c",
         "[{\"name\":\"a\",\"authentication\":{\"loginEndpoint\":\"https://la/\",\"audiences\""
         ":[\"https://aa\"]}}]",
         "https://la https://aa"},
        {"a", "[{\"name\":\"a\"}]", "the cloud's metadata contains no authentication endpoint"},
        {"a", "[]", "the cloud's metadata contains no endpoints"},
        {"a", "{}", "the cloud's metadata contains no endpoints"},
        {"a", "[{\"authentication\":{\"loginEndpoint\":\"http://x\",\"audiences\":[\"a\"]}}]",
         "loginEndpoint \"http://x\" does not begin with https://"},
        {"a", "[{\"authentication\":{\"loginEndpoint\":\"https:///\",\"audiences\":[\"a\"]}}]",
         "loginEndpoint \"https:///\" contains no host"},
        {"a", "[{\"authentication\":{\"loginEndpoint\":\"\",\"audiences\":[\"a\"]}}]",
         "the cloud's metadata contains no authentication endpoint"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        CLEANUP(azure_config_fini)
        struct azure_config config = {.cloud = mem_strdup(answers[i].cloud), .discover = true};
        CLEANUP(json_decrefp) json_t *json = json_loads(answers[i].json, 0, NULL);
        CLEANUP(err_freep) struct err *err = cloud_endpoints_take(&config, json);
        CLEANUP(freep)
        char *got = err ? mem_strdup(err_message(err))
                        : mem_printf("%s %s", config.authority, config.audience);

        assert_string_equal(got, answers[i].expected);
        assert_int_equal(config.discover, err != NULL);
    }
}

/* The secret of our identity goes to the authority: one that was refused must not count when the
 * cloud is asked again. */
static void test_what_was_refused_does_not_stay(void **state)
{
    static const char refused[] =
        "[{\"authentication\":{\"loginEndpoint\":\"http://x\",\"audiences\":[\"a\"]}}]";
    static const char good[] =
        "[{\"authentication\":{\"loginEndpoint\":\"https://y\",\"audiences\":[\"a\"]}}]";
    CLEANUP(azure_config_fini) struct azure_config config = {.discover = true};
    CLEANUP(json_decrefp) json_t *first = json_loads(refused, 0, NULL);
    CLEANUP(json_decrefp) json_t *second = json_loads(good, 0, NULL);

    (void)state;
    assert_fails(cloud_endpoints_take(&config, first), ERR_INVALID,
                 "loginEndpoint \"http://x\" does not begin with https://");
    assert_true(config.discover);
    assert_ok(cloud_endpoints_take(&config, second));
    assert_string_equal(config.authority, "https://y");
}

/* ---- certificates ---- */

static void expect_certificate(const char *path, const char *password, const char *reason)
{
    CLEANUP(freep)
    char *text = mem_printf("{" BASE "aadClientId: c, aadClientCertPath: '%s'%s%s}", path,
                            password ? ", aadClientCertPassword: " : "", password ? password : "");
    CLEANUP(freep)
    char *expected =
        reason ? mem_printf("aadClientCertPath: %s: %s", path, reason)
               : mem_strdup("certificate" USUAL " client=c user=- token=- stack=0 unknown=-");

    expect_outcome(text, expected);
}

static void test_certificates(void **state)
{
    struct key_pair one, two;
    CLEANUP(freep) char *path = mem_printf("%s/certificate", folder);

    (void)state;
    key_pair_init(&one);
    key_pair_init(&two);
    key_pair_write_pkcs12(&one, path, "hidden1");
    expect_certificate(path, "hidden1", NULL);
    expect_certificate(path, "hidden2", "the password is wrong");
    expect_certificate(path, NULL, "the file requires a password");
    key_pair_write_pkcs12(&one, path, "");
    expect_certificate(path, NULL, NULL);
    key_pair_write_pem(&one, path, NULL);
    expect_certificate(path, NULL, NULL);
    key_pair_write_pem(&one, path, "hidden1");
    expect_certificate(path, "hidden1", NULL);
    expect_certificate(path, "hidden2",
                       "the file is not PKCS#12 and contains no PEM private key that can be read "
                       "with the password");
    free(write_file("certificate", one.certificate_pem));
    expect_certificate(path, NULL,
                       "the file is not PKCS#12 and contains no PEM private key that can be read "
                       "without a password");
    X509_free(one.certificate);
    one.certificate = X509_dup(two.certificate);
    key_pair_write_pem(&one, path, NULL);
    expect_certificate(path, NULL, "the file contains no certificate for its private key");
    EVP_PKEY_free(one.key);
    one.key = EVP_EC_gen("P-256");
    X509_set_pubkey(one.certificate, one.key);
    assert_true(X509_sign(one.certificate, one.key, EVP_sha256()) > 0);
    key_pair_write_pem(&one, path, NULL);
    expect_certificate(path, NULL, "the private key is not an RSA key");
    key_pair_fini(&one);
    key_pair_fini(&two);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? clear_environment(state) : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"stack.json", "certificate", ""};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        CLEANUP(freep) char *path = mem_printf("%s/%s", folder, names[i]);

        remove(path);
    }
    return 0;
}

#define IN_CLEAN_ENVIRONMENT(test) cmocka_unit_test_teardown(test, clear_environment)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_each_cloud_has_an_authority_of_its_own),
        cmocka_unit_test(test_location),
        IN_CLEAN_ENVIRONMENT(test_the_environment_goes_before_the_file),
        IN_CLEAN_ENVIRONMENT(test_the_webhook_of_workload_identity),
        IN_CLEAN_ENVIRONMENT(test_an_environment_file),
        cmocka_unit_test(test_what_resource_manager_says),
        cmocka_unit_test(test_what_was_refused_does_not_stay),
        cmocka_unit_test(test_certificates),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
