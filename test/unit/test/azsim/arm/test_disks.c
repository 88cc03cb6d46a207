/* Disks as clients of ARM see them: shapes, operations that are followed, pages. */
#include "lib/base/alloc.h"
#include "test/azsim/model/resource.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/azure.h"

#define BODY                                                                                       \
    "{'location': 'eastus', 'zones': ['1'], 'tags': {'a': 'b'}, 'sku': {'name': 'Premium_LRS'}, "  \
    "'properties': {'creationData': {'createOption': 'Empty'}, 'diskSizeGB': 200, 'maxShares': "   \
    "2}}"

static json_t *body_of(const struct http_response *response)
{
    json_t *json = json_loads(response->body, 0, NULL);

    if (!json)
        fail_msg("not JSON: %d %s", response->status, response->body);
    return json;
}

static void expect_text(const json_t *json, const char *path, const char *expected)
{
    if (strcmp(resource_text(json, path, "(nothing)"), expected) != 0)
        fail_msg("%s is %s, not %s", path, resource_text(json, path, "(nothing)"), expected);
}

static void expect_status(struct azure *azure, const char *url, const char *status)
{
    json_t *json = ask_json(azure, "GET", url, NULL, 200);

    expect_text(json, "status", status);
    json_decref(json);
}

/* ---- creation ---- */

static void test_creation_is_accepted_followed_and_done(void **state)
{
    struct azure *azure = azure_new(NULL);
    CLEANUP(http_response_finip) struct http_response accepted = {0}, result = {0};

    (void)state;
    ask(azure, "PUT", "{P}/disks/d", BODY, &accepted);
    assert_int_equal(accepted.status, 202);
    json_t *json = body_of(&accepted);
    expect_text(json, "properties.provisioningState", "Updating");
    assert_null(resource_get(json, "properties.diskState"));
    assert_null(resource_get(json, "properties.uniqueId"));
    assert_null(resource_get(json, "properties.timeCreated"));
    json_decref(json);

    const char *status = header_of(&accepted, "Azure-AsyncOperation");
    const char *location = header_of(&accepted, "Location");
    assert_true(strlen(status) > 5000);
    assert_null(strstr(status, "monitor"));
    assert_non_null(strstr(location, "&monitor=true&"));
    assert_string_equal(header_of(&accepted, "Retry-After"), "");

    expect_status(azure, status, "InProgress");
    ask(azure, "GET", location, NULL, &result);
    assert_int_equal(result.status, 202);
    assert_int_equal(result.body_length, 0);
    assert_string_equal(header_of(&result, "Location"), location);
    http_response_fini(&result);

    loop_advance(azure->loop, 1000);
    json = ask_json(azure, "GET", status, NULL, 200);
    expect_text(json, "status", "Succeeded");
    expect_text(json, "startTime", "2026-01-01T00:00:00.0000000+00:00");
    expect_text(json, "endTime", "2026-01-01T00:00:01.0000000+00:00");
    expect_text(json, "properties.output.name", "d");
    json_decref(json);
    json = ask_json(azure, "GET", location, NULL, 200);
    expect_text(json, "properties.provisioningState", "Succeeded");
    json_decref(json);
    azure_free(azure);
}

static void test_shape_of_a_disk(void **state)
{
    static const struct {
        const char *path, *value;
    } texts[] = {
        {"name", "d"},
        {"type", "Microsoft.Compute/disks"},
        {"location", "eastus"},
        {"tags.a", "b"},
        {"sku.name", "Premium_LRS"},
        {"sku.tier", "Premium"},
        {"properties.tier", "P15"},
        {"properties.diskState", "Unattached"},
        {"properties.provisioningState", "Succeeded"},
        {"properties.encryption.type", "EncryptionAtRestWithPlatformKey"},
        {"properties.networkAccessPolicy", "AllowAll"},
        {"properties.publicNetworkAccess", "Enabled"},
        {"properties.timeCreated", "2026-01-01T00:00:00.0000000+00:00"},
    };
    static const struct {
        const char *path;
        long long value;
    } numbers[] = {{"properties.diskSizeGB", 200},
                   {"properties.diskSizeBytes", 214748364800},
                   {"properties.diskIOPSReadWrite", 1100},
                   {"properties.diskMBpsReadWrite", 125},
                   {"properties.maxShares", 2}};
    struct azure *azure = azure_new(NULL);

    (void)state;
    json_decref(ask_json(azure, "PUT", "{P}/disks/d", BODY, 202));
    loop_advance(azure->loop, 1000);
    json_t *json = ask_json(azure, "GET", "{P}/disks/d", NULL, 200);
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        expect_text(json, texts[i].path, texts[i].value);
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        assert_int_equal(json_integer_value(resource_get(json, numbers[i].path)), numbers[i].value);
    assert_int_equal(strlen(resource_text(json, "properties.uniqueId", "")), 36);
    assert_null(resource_get(json, "managedBy"));
    assert_null(resource_get(json, "managedByExtended"));
    assert_null(resource_get(json, "properties.shareInfo"));
    assert_null(resource_get(json, "properties.LastOwnershipUpdateTime"));
    json_decref(json);
    azure_free(azure);
}

static void test_owners_of_a_disk(void **state)
{
    struct azure *azure = azure_new(NULL);
    const char *attach = "{'dataDisksToAttach': [{'diskId': '/subscriptions/" SUBSCRIPTION
                         "/resourceGroups/rg/providers/Microsoft.Compute/disks/d'}]}";
    CLEANUP(http_response_finip) struct http_response response = {0};

    (void)state;
    make_disk(azure, "d", 2);
    ask(azure, "POST", "{P}/virtualMachines/vm2/attachDetachDataDisks", attach, &response);
    assert_int_equal(response.status, 202);
    http_response_fini(&response);
    loop_advance(azure->loop, 5000);
    ask(azure, "POST", "{P}/virtualMachines/vm1/attachDetachDataDisks", attach, &response);
    assert_int_equal(response.status, 202);
    loop_advance(azure->loop, 5000);

    json_t *json = ask_json(azure, "GET", "{P}/disks/d", NULL, 200);
    expect_text(json, "properties.diskState", "Attached");
    assert_int_equal(json_array_size(resource_get(json, "managedByExtended")), 1);
    json_decref(json);
    loop_advance(azure->loop, 5000);
    json = ask_json(azure, "GET", "{P}/disks/d", NULL, 200);
    const json_t *owners = resource_get(json, "managedByExtended");
    assert_int_equal(json_array_size(owners), 2);
    assert_non_null(strstr(json_string_value(json_array_get(owners, 0)), "/virtualMachines/vm2"));
    assert_non_null(strstr(json_string_value(json_array_get(owners, 1)), "/virtualMachines/vm1"));
    assert_string_equal(resource_text(json, "managedBy", ""),
                        json_string_value(json_array_get(owners, 0)));
    assert_non_null(strstr(
        resource_text(json_array_get(resource_get(json, "properties.shareInfo"), 1), "vmUri", ""),
        "/vm1"));
    expect_text(json, "properties.LastOwnershipUpdateTime", "2026-01-01T00:00:16.0000000+00:00");
    json_decref(json);
    azure_free(azure);
}

/* ---- deletion ---- */

static void test_deletion_leaves_nothing(void **state)
{
    struct azure *azure = azure_new(NULL);
    CLEANUP(http_response_finip) struct http_response accepted = {0}, response = {0};

    (void)state;
    make_disk(azure, "d", 1);
    ask(azure, "DELETE", "{P}/disks/d", NULL, &accepted);
    assert_int_equal(accepted.status, 202);
    assert_int_equal(accepted.body_length, 0);
    loop_advance(azure->loop, 1000);
    json_t *json = ask_json(azure, "GET", header_of(&accepted, "Azure-AsyncOperation"), NULL, 200);
    expect_text(json, "status", "Succeeded");
    assert_null(resource_get(json, "properties"));
    json_decref(json);
    ask(azure, "GET", header_of(&accepted, "Location"), NULL, &response);
    assert_int_equal(response.status, 204);
    http_response_fini(&response);
    json_decref(ask_json(azure, "GET", "{P}/disks/d", NULL, 404));
    ask(azure, "DELETE", "{P}/disks/d", NULL, &response);
    assert_int_equal(response.status, 204);
    azure_free(azure);
}

/* ---- URLs of operations ---- */

static void test_operation_urls_have_to_be_used_as_they_are(void **state)
{
    struct azure *azure = azure_new(NULL);
    CLEANUP(http_response_finip) struct http_response accepted = {0};

    (void)state;
    ask(azure, "PUT", "{P}/disks/d", BODY, &accepted);
    const char *url = header_of(&accepted, "Azure-AsyncOperation");
    CLEANUP(freep) char *shortened = mem_strdup(url);
    CLEANUP(freep) char *other_version = mem_strdup(url);
    CLEANUP(freep) char *unsealed = mem_strndup(url, (size_t)(strstr(url, "&s=") - url));

    memmove(strstr(shortened, "&c=") + 3, strstr(url, "&c=") + 4,
            strlen(strstr(url, "&c=") + 4) + 1);
    strstr(other_version, "2025-01-02")[9] = '3';
    json_decref(ask_json(azure, "GET", shortened, NULL, 400));
    json_decref(ask_json(azure, "GET", other_version, NULL, 400));
    json_decref(ask_json(azure, "GET", unsealed, NULL, 400));
    expect_status(azure, url, "InProgress");

    /* A disk's operation is not one of VMs. */
    CLEANUP(freep)
    char *moved =
        mem_printf("{Q}/locations/eastus/operations/%s", strstr(url, "DiskOperations/") + 15);
    json_decref(ask_json(azure, "GET", moved, NULL, 404));
    azure_free(azure);
}

static void test_retry_after_if_wanted(void **state)
{
    struct azure *azure = azure_new(&(struct arm_config){.retry_after_s = 17});
    CLEANUP(http_response_finip) struct http_response accepted = {0}, poll = {0};

    (void)state;
    ask(azure, "PUT", "{P}/disks/d", BODY, &accepted);
    assert_string_equal(header_of(&accepted, "Retry-After"), "17");
    ask(azure, "GET", header_of(&accepted, "Azure-AsyncOperation"), NULL, &poll);
    assert_string_equal(header_of(&poll, "Retry-After"), "17");
    loop_advance(azure->loop, 1000);
    http_response_fini(&poll);
    ask(azure, "GET", header_of(&accepted, "Azure-AsyncOperation"), NULL, &poll);
    assert_string_equal(header_of(&poll, "Retry-After"), "");
    azure_free(azure);
}

/* ---- lists ---- */

/* Some clients sort the arguments of a link. */
static void put_token_first(char *link)
{
    static const char rest[] = "$filter=x&api-version=2025-01-02";
    char *query = strchr(link, '?') + 1;
    CLEANUP(freep) char *token = mem_strdup(strstr(query, "%24skiptoken="));

    snprintf(query, strlen(query) + 1, "%s&%s", token, rest);
}

static void test_lists_come_in_pages(void **state)
{
    struct azure *azure = azure_new(&(struct arm_config){.page_size = 2});
    char name[16];
    unsigned pages = 0, items = 0;

    (void)state;
    model_add_group(azure->model, "other");
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "d%d", i);
        make_disk(azure, name, 1);
    }
    CLEANUP(freep) char *next = mem_strdup("{P}/disks?$filter=x&api-version=2025-01-02");
    while (next) {
        json_t *json = ask_json(azure, "GET", next, NULL, 200);
        const json_t *list = resource_get(json, "value");

        for (size_t i = 0; i < json_array_size(list); i++) {
            snprintf(name, sizeof name, "d%u", items++);
            expect_text(json_array_get(list, i), "name", name);
        }
        pages++;
        /* What is deleted between two pages is missed and shifts nothing. */
        if (pages == 1) {
            CLEANUP(http_response_finip) struct http_response response = {0};
            ask(azure, "DELETE", "{P}/disks/d0", NULL, &response);
            loop_advance(azure->loop, 1000);
        }
        free(next);
        next = mem_strdup(resource_text(json, "nextLink", NULL));
        assert_true(!next || strstr(next, "$filter=x&api-version=2025-01-02&%24skiptoken="));
        if (next)
            put_token_first(next);
        json_decref(json);
    }
    assert_int_equal(pages, 3);
    assert_int_equal(items, 5);

    json_t *json =
        ask_json(azure, "GET",
                 "/subscriptions/" SUBSCRIPTION
                 "/resourceGroups/other/providers/Microsoft.Compute/disks?api-version=2025-01-02",
                 NULL, 200);
    assert_int_equal(json_array_size(resource_get(json, "value")), 0);
    assert_null(resource_get(json, "nextLink"));
    json_decref(json);
    azure_free(azure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_creation_is_accepted_followed_and_done),
        cmocka_unit_test(test_shape_of_a_disk),
        cmocka_unit_test(test_owners_of_a_disk),
        cmocka_unit_test(test_deletion_leaves_nothing),
        cmocka_unit_test(test_operation_urls_have_to_be_used_as_they_are),
        cmocka_unit_test(test_retry_after_if_wanted),
        cmocka_unit_test(test_lists_come_in_pages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
