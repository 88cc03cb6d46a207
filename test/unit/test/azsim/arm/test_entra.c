/* Tokens for a secret, and where everything is, as clients ask for it before anything else. */
#include "lib/base/alloc.h"
#include "test/azsim/arm/form.h"
#include "test/azsim/model/resource.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/azure.h"

#define TOKEN "/{T}/oauth2/v2.0/token?x"
#define TOKEN_V1 "/{T}/oauth2/token?api-version=1.0"
#define GOOD "grant_type=client_credentials&client_id=" CLIENT "&client_secret=s3cr%2Bt%26%3D"
#define SCOPE "&scope=https%3A%2F%2Fazsim%3A443%2F.default+openid+offline_access"
#define RESOURCE "&resource=https%3A%2F%2Fmanagement.azure.com%2F"

static const struct {
    const char *why, *path, *form;
    int status, number;
    const char *error;
} refusals[] = {
    {"a wrong secret", TOKEN,
     "grant_type=client_credentials&client_id=" CLIENT "&client_secret=x" SCOPE, 401, 7000215,
     "invalid_client"},
    {"a secret that has expired", TOKEN,
     "grant_type=client_credentials&client_id=" CLIENT "&client_secret=old" SCOPE, 401, 7000222,
     "invalid_client"},
    {"no secret", TOKEN, "grant_type=client_credentials&client_id=" CLIENT SCOPE, 401, 7000216,
     "invalid_client"},
    {"an application that there is not", TOKEN,
     "grant_type=client_credentials&client_id=x&client_secret=x" SCOPE, 400, 700016,
     "unauthorized_client"},
    {"another tenant", "/" CLIENT "/oauth2/v2.0/token?x", GOOD SCOPE, 400, 90002,
     "invalid_request"},
    {"another grant", TOKEN,
     "grant_type=password&client_id=" CLIENT "&client_secret=s3cr%2Bt%26%3D" SCOPE, 400, 70003,
     "unsupported_grant_type"},
    {"no scope", TOKEN, GOOD, 400, 900144, "invalid_request"},
    {"a scope that is none", TOKEN, GOOD "&scope=https://azsim:443", 400, 70011, "invalid_scope"},
    {"nothing at all", TOKEN, "", 400, 900144, "invalid_request"},
    {"v1: a wrong secret", TOKEN_V1,
     "grant_type=client_credentials&client_id=" CLIENT "&client_secret=x" RESOURCE, 401, 7000215,
     "invalid_client"},
    {"v1: an application that there is not", TOKEN_V1,
     "grant_type=client_credentials&client_id=x&client_secret=x" RESOURCE, 400, 700016,
     "unauthorized_client"},
    {"v1: another tenant", "/" CLIENT "/oauth2/token?api-version=1.0", GOOD RESOURCE, 400, 90002,
     "invalid_request"},
    {"v1: a scope in place of a resource", TOKEN_V1, GOOD SCOPE, 400, 500013, "invalid_resource"},
    {"v1: nothing at all", TOKEN_V1, "", 400, 900144, "invalid_request"},
};

static void test_refusals(void **state)
{
    static const struct arm_client client = {
        .id = CLIENT, .secret = "s3cr+t&=", .expired_secret = "old"};
    struct azure *azure = azure_new(&(struct arm_config){.clients = &client, .n_clients = 1});

    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        CLEANUP(freep) char *code = mem_printf("AADSTS%d: ", refusals[i].number);
        json_t *json =
            ask_json(azure, "POST", refusals[i].path, refusals[i].form, refusals[i].status);

        print_message("  %s\n", refusals[i].why);
        assert_string_equal(resource_text(json, "error", ""), refusals[i].error);
        assert_non_null(strstr(resource_text(json, "error_description", ""), code));
        assert_non_null(
            strstr(resource_text(json, "error_description", ""),
                   strstr(refusals[i].path, "/v2.0/") ? " Trace ID: " : "\r\nTrace ID: "));
        assert_int_equal(
            json_integer_value(json_array_get(json_object_get(json, "error_codes"), 0)),
            refusals[i].number);
        json_decref(json);
    }
    azure_free(azure);
}

static void test_a_token_is_good_for_an_hour(void **state)
{
    struct azure *azure = azure_new(NULL);
    json_t *json = ask_json(azure, "POST", TOKEN, GOOD SCOPE, 200);

    (void)state;
    assert_string_equal(resource_text(json, "token_type", ""), "Bearer");
    assert_int_equal(json_integer_value(json_object_get(json, "expires_in")), 3599);
    free(azure->token);
    azure->token = mem_strdup(resource_text(json, "access_token", ""));
    json_decref(json);
    loop_advance(azure->loop, 3598 * 1000);
    json_decref(ask_json(azure, "GET", "{P}/disks", NULL, 200));
    loop_advance(azure->loop, 1000);
    json = ask_json(azure, "GET", "{P}/disks", NULL, 401);
    assert_string_equal(resource_text(json, "error.message", ""),
                        "The access token expiry UTC time '1/1/2026 12:59:59 AM' is earlier than "
                        "current UTC time '1/1/2026 12:59:59 AM'.");
    json_decref(json);
    azure_free(azure);
}

/* What clients of before MSAL ask for: all numbers of the answer are strings. */
static void test_the_older_end_point(void **state)
{
    static const struct {
        const char *member, *value;
    } members[] = {
        {"token_type", "Bearer"},     {"expires_in", "3599"},
        {"ext_expires_in", "3599"},   {"not_before", "1767225600"},
        {"expires_on", "1767229199"}, {"resource", "https://management.azure.com/"},
    };
    struct azure *azure = azure_new(NULL);
    json_t *json = ask_json(azure, "POST", TOKEN_V1, GOOD RESOURCE, 200);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(members); i++)
        assert_string_equal(resource_text(json, members[i].member, "(nothing)"), members[i].value);
    assert_int_equal(json_object_size(json), COUNT_OF(members) + 1);
    free(azure->token);
    azure->token = mem_strdup(resource_text(json, "access_token", ""));
    json_decref(json);
    json_decref(ask_json(azure, "GET", "{P}/disks", NULL, 200));
    azure_free(azure);
}

static void test_lifetime_as_configured(void **state)
{
    struct azure *azure = azure_new(&(struct arm_config){.token_lifetime_s = 10});

    (void)state;
    loop_advance(azure->loop, 10 * 1000);
    json_decref(ask_json(azure, "GET", "{P}/disks", NULL, 401));
    azure_free(azure);
}

static void test_documents(void **state)
{
    struct azure *azure = azure_new(NULL);

    (void)state;
    free(TAKE_PTR(azure->token)); /* none of it needs one */
    json_t *json = ask_json(azure, "GET", "/{T}/v2.0/.well-known/openid-configuration?", NULL, 200);
    assert_string_equal(resource_text(json, "token_endpoint", ""),
                        "https://azsim:443/" TENANT "/oauth2/v2.0/token");
    assert_string_equal(resource_text(json, "issuer", ""), "https://azsim:443/" TENANT "/v2.0");
    json_decref(json);
    json_decref(
        ask_json(azure, "GET", "/unknown/v2.0/.well-known/openid-configuration", NULL, 400));

    json =
        ask_json(azure, "GET",
                 "/common/discovery/instance?api-version=1.1&authorization_endpoint=x", NULL, 200);
    assert_string_equal(resource_text(json, "tenant_discovery_endpoint", ""),
                        "https://azsim:443/" TENANT "/v2.0/.well-known/openid-configuration");
    json_decref(json);

    json = ask_json(azure, "GET", "/metadata/endpoints?api-version=2019-05-01", NULL, 200);
    const json_t *cloud = json_array_get(json, 0);
    assert_string_equal(resource_text(cloud, "resourceManager", ""), "https://azsim:443");
    assert_string_equal(resource_text(cloud, "authentication.loginEndpoint", ""),
                        "https://azsim:443");
    json_decref(json);
    azure_free(azure);
}

/* One object for those who ask as in the days of Azure Stack's first release. */
static void test_old_document_of_end_points(void **state)
{
    static const char *const versions[] = {"1.0", "2015-01-01", "2017-12-01"};
    struct azure *azure = azure_new(NULL);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        CLEANUP(freep)
        char *path = mem_printf("/metadata/endpoints?api-version=%s", versions[i]);
        json_t *json = ask_json(azure, "GET", path, NULL, 200);

        assert_string_equal(resource_text(json, "galleryEndpoint", ""),
                            "https://gallery.azure.com/");
        assert_string_equal(resource_text(json, "graphEndpoint", ""), "https://graph.windows.net/");
        assert_string_equal(resource_text(json, "portalEndpoint", ""), "https://portal.azure.com/");
        assert_string_equal(resource_text(json, "authentication.loginEndpoint", ""),
                            "https://azsim:443/");
        assert_string_equal(
            json_string_value(json_array_get(resource_get(json, "authentication.audiences"), 0)),
            "https://azsim:443");
        json_decref(json);
    }
    azure_free(azure);
}

static void test_forms(void **state)
{
    CLEANUP(form_finip) struct form form;

    (void)state;
    form_read(&form, "a=1&b=x%20y+z&c&=d&e=%zz%4&a=2&f==");
    assert_string_equal(form_get(&form, "a"), "1");
    assert_string_equal(form_get(&form, "b"), "x y z");
    assert_string_equal(form_get(&form, "c"), "");
    assert_string_equal(form_get(&form, ""), "d");
    assert_string_equal(form_get(&form, "e"), "%zz%4");
    assert_string_equal(form_get(&form, "f"), "=");
    assert_null(form_get(&form, "g"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_a_token_is_good_for_an_hour),
        cmocka_unit_test(test_the_older_end_point),
        cmocka_unit_test(test_lifetime_as_configured),
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_old_document_of_end_points),
        cmocka_unit_test(test_forms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
