/* What ARM says before a disk or VM is even looked at: a request, and the refusal. */
#include "lib/base/alloc.h"
#include "test/azsim/arm/token.h"
#include "test/azsim/model/resource.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/azure.h"

#define OTHER "44444444-4444-4444-4444-444444444444"
#define V "?api-version=2025-01-02"
#define EMPTY "'location': 'eastus', 'properties': {'creationData': {'createOption': 'Empty'}"

static const struct {
    const char *method, *path, *body;
    int status;
    const char *code, *text;
} rows[] = {
    {"GET", "{P}/disks/a?x=1", NULL, 400, "MissingApiVersionParameter", "(?api-version=)"},
    {"GET", "{P}/disks/a?api-version=v1", NULL, 400, "InvalidApiVersionParameter", "'v1'"},
    {"GET", "{P}/disks/a?api-version=2025-01-02-beta", NULL, 400, "InvalidApiVersionParameter", ""},
    {"GET", "{P}/disks/a?api-version=2025-01-02-preview", NULL, 404, "ResourceNotFound", ""},
    {"GET", "{P}/disks/a", NULL, 404, "ResourceNotFound",
     "The Resource 'Microsoft.Compute/disks/a' under resource group 'rg' was not found. For more "
     "details please go to https://aka.ms/ARMResourceNotFoundFix"},
    {"GET", "{P}/virtualMachines/x", NULL, 404, "ResourceNotFound",
     "'Microsoft.Compute/virtualMachines/x'"},
    {"GET", "/subscriptions/" OTHER "/providers/Microsoft.Compute/disks" V, NULL, 404,
     "SubscriptionNotFound", OTHER},
    {"GET", "/subscriptions/none/providers/Microsoft.Compute/disks" V, NULL, 400,
     "InvalidSubscriptionId", "'none'"},
    {"GET", "/subscriptions/" SUBSCRIPTION "/resourceGroups/no/providers/Microsoft.Compute/disks" V,
     NULL, 404, "ResourceGroupNotFound", "Resource group 'no' could not be found."},
    {"GET", "/subscriptions/" SUBSCRIPTION "/providers/Microsoft.Magic/wands" V, NULL, 404,
     "InvalidResourceNamespace", "'Microsoft.Magic'"},
    {"GET", "{Q}/wands", NULL, 404, "InvalidResourceType", "'wands'"},
    {"GET", "{P}/disks/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o", NULL, 404, "MissingSubscription", ""},
    {"GET", "/wands", NULL, 404, "MissingSubscription", ""},
    {"GET", "/", NULL, 404, "MissingSubscription", ""},
    {"POST", "{P}/disks/a", NULL, 405, "HttpMethodNotSupported", "'POST'"},
    {"POST", "{P}/virtualMachines/vm1/attachDetachDataDisks?api-version=2023-08-31", "{}", 404,
     "InvalidResourceType", "virtualMachines/attachDetachDataDisks"},
    {"POST", "{P}/virtualMachines/vm1/attachDetachDataDisks?api-version=2023-09-01",
     "{'dataDisksToAttach': [{'diskId': 'x'}, {'diskId': 'y', 'caching': 'None'}]}", 400,
     "BadRequest",
     "Could not find member 'caching' on object of type 'DataDisksToAttach'. Path "
     "'dataDisksToAttach[1].caching'"},
    {"PUT", "{P}/disks/a", "{", 400, "InvalidRequestContent", "could not be deserialized"},
    {"PUT", "{P}/disks/a", NULL, 400, "InvalidRequestContent", "could not be deserialized"},
    {"PUT", "{P}/disks/a", "[]", 400, "InvalidRequestContent", "an object is expected"},
    {"PUT", "{P}/disks/a", "{'location': 'eastus', 'properties': []}", 400, "InvalidRequestContent",
     "properties: an object is expected"},
    {"PUT", "{P}/disks/a", "{" EMPTY "}}", 400, "InvalidParameter", "'disk.diskSizeGB'"},
    {"PATCH", "{P}/disks/a", "{}", 404, "ResourceNotFound", ""},
    {"PUT", "{P}/virtualMachines/new", "{'location': 'eastus'}", 409, "QuotaExceeded",
     "Total Regional Cores"},
    {"GET", "{Q}/locations/eastus/operations/" OTHER, NULL, 404, "NotFound", OTHER},
};

static void test_refusals(void **state)
{
    struct azure *azure = azure_new(NULL);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        json_t *json = ask_json(azure, rows[i].method, rows[i].path, rows[i].body, rows[i].status);

        assert_string_equal(resource_text(json, "error.code", ""), rows[i].code);
        if (!strstr(resource_text(json, "error.message", ""), rows[i].text))
            fail_msg("%s: %s", rows[i].path, resource_text(json, "error.message", ""));
        json_decref(json);
    }
    azure_free(azure);
}

/* Bytes that are no text are answered all the same, with text. */
static void test_bytes_that_are_no_text(void **state)
{
    struct azure *azure = azure_new(NULL);

    (void)state;
    json_decref(ask_json(azure, "GET", "{P}/disks/%ff%fe", NULL, 404));
    json_decref(ask_json(azure, "GET", "{P}/disks/a?api-version=%ff", NULL, 400));
    json_decref(ask_json(azure, "GET", "/subscriptions/%ff/disks", NULL, 400));
    json_decref(
        ask_json(azure, "POST", "/{T}/oauth2/v2.0/token?x", "client_id=%ff&scope=%fe", 400));
    json_decref(ask_json(azure, "PUT", "{P}/disks/a", "{'location': '\xff'}", 400));
    azure->extra[0] = (struct http_header){"Metadata", "true"};
    json_t *json = ask_json(azure, "GET",
                            "http://169.254.169.254/metadata/identity/oauth2/token"
                            "?api-version=2018-02-01&resource=%ff%fe",
                            NULL, 200);
    assert_string_equal(resource_text(json, "resource", ""), "??");
    json_decref(json);
    azure_free(azure);
}

static void test_case_of_paths_does_not_matter(void **state)
{
    struct azure *azure = azure_new(NULL);

    (void)state;
    make_disk(azure, "MyDisk", 1);
    json_t *json = ask_json(azure, "GET",
                            "/SUBSCRIPTIONS/" SUBSCRIPTION
                            "/resourcegroups/RG/PROVIDERS/microsoft.compute/DISKS/mydisk" V,
                            NULL, 200);
    assert_string_equal(resource_text(json, "name", ""), "MyDisk");
    assert_string_equal(resource_text(json, "id", ""),
                        "/subscriptions/" SUBSCRIPTION
                        "/resourceGroups/rg/providers/Microsoft.Compute/disks/MyDisk");
    json_decref(json);
    azure_free(azure);
}

/* ---- headers ---- */

static void test_headers_of_every_answer(void **state)
{
    static const char *const names[] = {"x-ms-request-id",
                                        "x-ms-correlation-request-id",
                                        "x-ms-routing-request-id",
                                        "x-ms-operation-identifier",
                                        "x-ms-ratelimit-remaining-subscription-reads",
                                        "x-ms-ratelimit-remaining-subscription-global-reads",
                                        "Strict-Transport-Security"};
    struct azure *azure = azure_new(NULL);
    CLEANUP(http_response_finip) struct http_response response = {0};

    (void)state;
    azure->extra[0] = (struct http_header){"x-ms-correlation-request-id", "mine"};
    ask(azure, "GET", "{Q}/disks", NULL, &response);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_string_not_equal(header_of(&response, names[i]), "");
    assert_string_equal(header_of(&response, "x-ms-correlation-request-id"), "mine");
    assert_string_equal(header_of(&response, "x-ms-failure-cause"), "");
    assert_string_equal(header_of(&response, "Content-Type"), "application/json; charset=utf-8");
    assert_non_null(strstr(response.body, "{\r\n  \"value\""));
    http_response_fini(&response);

    ask(azure, "GET", "{P}/disks/none", NULL, &response);
    assert_string_equal(header_of(&response, "x-ms-failure-cause"), "gateway");
    azure_free(azure);
}

/* ---- tokens ---- */

struct token_row {
    const char *why, *tenant, *audience;
    int64_t expires;  /* from now */
    int key;          /* what it is filled with; 7 is ours */
    const char *code; /* NULL: good */
};

static void expect_401(struct azure *azure, const char *why, const char *code)
{
    CLEANUP(http_response_finip) struct http_response response = {0};

    ask(azure, "GET", "{Q}/disks", NULL, &response);
    if (response.status != (code ? 401 : 200) || (code && !strstr(response.body, code)))
        fail_msg("%s: %d %s", why, response.status, response.body);
    if (code)
        assert_non_null(strstr(header_of(&response, "WWW-Authenticate"),
                               "Bearer authorization_uri=\"https://azsim:443/" TENANT "\", "
                               "error=\"invalid_token\""));
}

static void test_tokens_are_checked(void **state)
{
    const int64_t now = 1767225600; /* when virtual time begins */
    static const struct token_row token_rows[] = {
        {"as it should be", TENANT, "https://azsim:443", 1, 7, NULL},
        {"with a slash", TENANT, "https://azsim:443/", 1, 7, NULL},
        {"without the usual port", TENANT, "https://azsim/", 1, 7, NULL},
        {"of the public cloud", TENANT, "https://management.azure.com/", 1, 7, NULL},
        {"expired", TENANT, "https://azsim:443", 0, 7, "ExpiredAuthenticationToken"},
        {"for a vault", TENANT, "https://vault.azure.net", 1, 7,
         "InvalidAuthenticationTokenAudience"},
        {"for a longer name", TENANT, "https://azsim:4433", 1, 7,
         "InvalidAuthenticationTokenAudience"},
        {"of another tenant", OTHER, "https://azsim:443", 1, 7, "InvalidAuthenticationTokenTenant"},
        {"sealed by another", TENANT, "https://azsim:443", 1, 8, "InvalidAuthenticationToken"},
    };
    struct azure *azure = azure_new(NULL);
    struct seal_key key;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(token_rows); i++) {
        const struct token token = {.tenant = token_rows[i].tenant,
                                    .audience = token_rows[i].audience,
                                    .client_id = CLIENT,
                                    .issued = now,
                                    .expires = now + token_rows[i].expires};

        memset(&key, token_rows[i].key, sizeof key);
        free(azure->token);
        azure->token = token_write(&key, &token);
        expect_401(azure, token_rows[i].why, token_rows[i].code);
    }
    azure->token[strlen(azure->token) - 1] ^= 1;
    expect_401(azure, "changed", "InvalidAuthenticationToken");
    free(azure->token);
    azure->token = mem_strdup("a.b");
    expect_401(azure, "garbage", "InvalidAuthenticationToken");
    free(TAKE_PTR(azure->token));
    expect_401(azure, "none", "AuthenticationFailed");
    azure->extra[0] = (struct http_header){"Authorization", "Basic abc"};
    expect_401(azure, "another scheme", "AuthenticationFailedInvalidHeader");
    azure_free(azure);
}

static void test_base64url_both_ways(void **state)
{
    (void)state;
    for (size_t length = 0; length < 70; length++) {
        unsigned char data[70];
        size_t n = 0;

        for (size_t i = 0; i < length; i++)
            data[i] = (unsigned char)(i * 37 + length);
        CLEANUP(freep) char *text = base64url_encode(data, length);
        CLEANUP(freep) char *back = base64url_decode(text, strlen(text), &n);
        assert_int_equal(n, length);
        assert_memory_equal(back, data, length);
    }
    CLEANUP(freep) char *known = base64url_encode("\xfb\xff\xfe", 3);
    assert_string_equal(known, "-__-");
    size_t n;
    assert_null(base64url_decode("a+b", 3, &n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_bytes_that_are_no_text),
        cmocka_unit_test(test_case_of_paths_does_not_matter),
        cmocka_unit_test(test_headers_of_every_answer),
        cmocka_unit_test(test_tokens_are_checked),
        cmocka_unit_test(test_base64url_both_ways),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
