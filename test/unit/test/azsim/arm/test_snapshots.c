/* Snapshots, what is around them, and how ids are written, as clients of ARM see them. */
#include "lib/base/alloc.h"
#include "test/azsim/model/resource.h"
#include "test/azsim/model/vm.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/azure.h"

#define P "/subscriptions/" SUBSCRIPTION "/resourceGroups/rg/providers/Microsoft.Compute"
#define BODY                                                                                       \
    "{'location': 'eastus', 'tags': {'by': 'us'}, 'properties': {'incremental': true, "            \
    "'creationData': {'createOption': 'Copy', 'sourceResourceId': '" P "/disks/d'}}}"

static void expect_text(const json_t *json, const char *path, const char *expected)
{
    if (strcmp(resource_text(json, path, "(nothing)"), expected) != 0)
        fail_msg("%s is %s, not %s", path, resource_text(json, path, "(nothing)"), expected);
}

static void test_life_of_a_snapshot(void **state)
{
    struct azure *azure = azure_new(NULL);
    CLEANUP(http_response_finip) struct http_response accepted = {0}, gone = {0};

    (void)state;
    make_disk(azure, "d", 1);
    json_t *disk = ask_json(azure, "GET", "{P}/disks/d", NULL, 200);
    ask(azure, "PUT", "{P}/snapshots/s", BODY, &accepted);
    assert_int_equal(accepted.status, 202);
    json_t *json = json_loads(accepted.body, 0, NULL);
    expect_text(json, "properties.provisioningState", "Updating");
    expect_text(json, "sku.name", "Standard_LRS");
    assert_null(resource_get(json, "properties.uniqueId"));
    json_decref(json);
    loop_advance(azure->loop, 1000);

    json = ask_json(azure, "GET", header_of(&accepted, "Azure-AsyncOperation"), NULL, 200);
    expect_text(json, "status", "Succeeded");
    expect_text(json, "properties.output.name", "s");
    json_decref(json);
    json = ask_json(azure, "GET", "{P}/SNAPSHOTS/S", NULL, 200);
    expect_text(json, "id", P "/snapshots/s");
    expect_text(json, "type", "Microsoft.Compute/snapshots");
    expect_text(json, "tags.by", "us");
    expect_text(json, "properties.provisioningState", "Succeeded");
    expect_text(json, "properties.diskState", "Unattached");
    expect_text(json, "properties.snapshotAccessState", "Available");
    expect_text(json, "properties.creationData.sourceResourceId", P "/disks/d");
    expect_text(json, "properties.creationData.sourceUniqueId",
                resource_text(disk, "properties.uniqueId", ""));
    assert_int_equal(json_integer_value(resource_get(json, "properties.diskSizeGB")), 10);
    assert_int_equal(json_integer_value(resource_get(json, "properties.diskSizeBytes")),
                     10LL << 30);
    assert_true(json_real_value(resource_get(json, "properties.completionPercent")) == 100);
    json_decref(json);
    json = ask_json(azure, "GET", "{P}/snapshots/s?api-version=2023-04-02", NULL, 200);
    assert_null(resource_get(json, "properties.snapshotAccessState"));
    json_decref(json);

    json_decref(ask_json(azure, "PATCH", "{P}/snapshots/s", "{'tags': {'a': 'b'}}", 202));
    loop_advance(azure->loop, 1000);
    json = ask_json(azure, "GET", "{Q}/snapshots", NULL, 200);
    expect_text(json_array_get(json_object_get(json, "value"), 0), "tags.a", "b");
    json_decref(json);

    http_response_fini(&accepted);
    ask(azure, "DELETE", "{P}/snapshots/s", NULL, &accepted);
    assert_int_equal(accepted.status, 202);
    loop_advance(azure->loop, 1000);
    ask(azure, "DELETE", "{P}/snapshots/s", NULL, &gone);
    assert_int_equal(gone.status, 204);
    json = ask_json(azure, "GET", "{P}/snapshots/s", NULL, 404);
    expect_text(json, "error.code", "ResourceNotFound");
    json_decref(json);
    json_decref(disk);
    azure_free(azure);
}

static const struct {
    const char *why, *body;
    int status;
    const char *code;
} refusals[] = {
    {"no location", "{'properties': {'creationData': {'createOption': 'Copy'}}}", 400,
     "LocationRequired"},
    {"another region", "{'location': 'mars', 'properties': {}}", 400,
     "LocationNotAvailableForResourceType"},
    {"a resource group that is none of ours", NULL, 404, "ResourceGroupNotFound"},
    {"no source",
     "{'location': 'eastus', 'properties': {'creationData': {'createOption': 'Copy'}}}", 400,
     "InvalidParameter"},
    {"a source that is none",
     "{'location': 'eastus', 'properties': {'creationData': {'createOption': 'Copy', "
     "'sourceResourceId': 'd'}}}",
     400, "LinkedInvalidPropertyId"},
    {"a source that is a VM",
     "{'location': 'eastus', 'properties': {'creationData': {'createOption': 'Copy', "
     "'sourceResourceId': '" P "/virtualMachines/vm1'}}}",
     404, "NotFound"},
    {"nothing of its own",
     "{'location': 'eastus', 'properties': {'creationData': {'createOption': "
     "'Empty'}}}",
     400, "InvalidParameter"},
    {"storage that there is not for snapshots",
     "{'location': 'eastus', 'sku': {'name': 'UltraSSD_LRS'}, 'properties': {'creationData': "
     "{'createOption': 'Copy', 'sourceResourceId': '" P "/disks/d'}}}",
     400, "InvalidParameter"},
};

static void test_refusals(void **state)
{
    struct azure *azure = azure_new(NULL);

    (void)state;
    make_disk(azure, "d", 1);
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        const char *path = refusals[i].body ? "{P}/snapshots/s"
                                            : "/subscriptions/" SUBSCRIPTION
                                              "/resourceGroups/none/providers/Microsoft.Compute/"
                                              "snapshots/s";
        json_t *json = ask_json(azure, "PUT", path, refusals[i].body ? refusals[i].body : BODY,
                                refusals[i].status);

        print_message("  %s\n", refusals[i].why);
        expect_text(json, "error.code", refusals[i].code);
        json_decref(json);
    }
    azure_free(azure);
}

static void test_a_disk_that_is_filled_in_the_background(void **state)
{
    struct azure *azure = azure_new(NULL);

    (void)state;
    json_decref(ask_json(azure, "PUT", "{P}/disks/d",
                         "{'location': 'eastus', 'zones': ['1'], 'sku': {'name': 'PremiumV2_LRS'}, "
                         "'properties': {'creationData': {'createOption': 'Empty'}, "
                         "'diskSizeGB': 10}}",
                         202));
    loop_advance(azure->loop, 1000);
    json_decref(ask_json(azure, "PUT", "{P}/snapshots/s", BODY, 202));
    loop_advance(azure->loop, 50000);
    json_t *json = ask_json(azure, "GET", "{P}/snapshots/s", NULL, 200);
    expect_text(json, "properties.snapshotAccessState", "Pending");
    assert_true(json_real_value(resource_get(json, "properties.completionPercent")) == 50);
    json_decref(json);
    loop_advance(azure->loop, 50000);
    json_decref(ask_json(azure, "PUT", "{P}/disks/e",
                         "{'location': 'eastus', 'zones': ['1'], 'sku': {'name': 'PremiumV2_LRS'}, "
                         "'properties': {'creationData': {'createOption': 'Copy', "
                         "'sourceResourceId': '" P "/snapshots/s'}}}",
                         202));
    loop_advance(azure->loop, 25000);
    json = ask_json(azure, "GET", "{P}/disks/e", NULL, 200);
    expect_text(json, "properties.provisioningState", "Succeeded");
    assert_true(json_real_value(resource_get(json, "properties.completionPercent")) == 25);
    assert_int_equal(json_integer_value(resource_get(json, "properties.diskSizeGB")), 10);
    json_decref(json);
    azure_free(azure);
}

static void expect_state(struct azure *azure, const char *path, const char *state)
{
    json_t *json = ask_json(azure, "GET", path, NULL, 200);

    expect_text(json, "properties.diskState", state);
    json_decref(json);
}

static void test_access_ends_by_itself_or_when_it_is_revoked(void **state)
{
    struct azure *azure = azure_new(NULL);
    CLEANUP(http_response_finip)
    struct http_response granted = {0}, again = {0}, revoked = {0};
    const char *grant = "{'access': 'Read', 'durationInSeconds': 60}";

    (void)state;
    make_disk(azure, "d", 1);
    json_t *json = ask_json(azure, "POST", "{P}/disks/d/beginGetAccess", "{'access': 'Read'}", 400);
    expect_text(json, "error.target", "grantAccessData.durationInSeconds");
    json_decref(json);
    json_decref(ask_json(azure, "POST", "{P}/disks/none/beginGetAccess", grant, 404));

    ask(azure, "POST", "{P}/disks/d/beginGetAccess", grant, &granted);
    assert_int_equal(granted.status, 202);
    loop_advance(azure->loop, 1000);
    json = ask_json(azure, "GET", header_of(&granted, "Azure-AsyncOperation"), NULL, 200);
    assert_non_null(resource_get(json, "properties.output.accessSAS"));
    json_decref(json);
    expect_state(azure, "{P}/disks/d", "ActiveSAS");
    json_decref(ask_json(azure, "DELETE", "{P}/disks/d", NULL, 409));
    loop_advance(azure->loop, 59000);
    expect_state(azure, "{P}/disks/d", "Unattached");

    ask(azure, "POST", "{P}/disks/d/beginGetAccess", grant, &again);
    loop_advance(azure->loop, 1000);
    ask(azure, "POST", "{P}/disks/d/endGetAccess", NULL, &revoked);
    assert_int_equal(revoked.status, 202);
    loop_advance(azure->loop, 1000);
    expect_state(azure, "{P}/disks/d", "Unattached");
    azure_free(azure);
}

/* ---- the subscription and its groups ---- */

static void test_subscription_and_groups(void **state)
{
    struct azure *azure = azure_new(NULL);

    (void)state;
    model_add_group(azure->model, "Other");
    json_t *json =
        ask_json(azure, "GET", "/subscriptions/" SUBSCRIPTION "?api-version=2021-01-01", NULL, 200);
    expect_text(json, "subscriptionId", SUBSCRIPTION);
    expect_text(json, "tenantId", TENANT);
    expect_text(json, "state", "Enabled");
    json_decref(json);
    json = ask_json(azure, "GET",
                    "/subscriptions/" SUBSCRIPTION "/resourcegroups/OTHER?api-version=2021-04-01",
                    NULL, 200);
    expect_text(json, "name", "Other");
    expect_text(json, "id", "/subscriptions/" SUBSCRIPTION "/resourceGroups/Other");
    expect_text(json, "properties.provisioningState", "Succeeded");
    json_decref(json);
    json = ask_json(azure, "GET",
                    "/subscriptions/" SUBSCRIPTION "/resourcegroups?api-version=2021-04-01", NULL,
                    200);
    assert_int_equal(json_array_size(json_object_get(json, "value")), 2);
    json_decref(json);
    json = ask_json(azure, "GET",
                    "/subscriptions/" SUBSCRIPTION "/locations?api-version=2021-01-01", NULL, 200);
    expect_text(json_array_get(json_object_get(json, "value"), 0), "name", "eastus");
    json_decref(json);
    json = ask_json(azure, "GET",
                    "/subscriptions/" SUBSCRIPTION "/resourceGroups/none?api-version=2021-04-01",
                    NULL, 404);
    expect_text(json, "error.code", "ResourceGroupNotFound");
    json_decref(json);
    azure_free(azure);
}

/* ---- how ids are written ---- */

static void test_groups_in_upper_case(void **state)
{
    struct azure *azure = azure_new(NULL);
    CLEANUP(http_response_finip) struct http_response accepted = {0};

    (void)state;
    azure->model->settings.upper_case_groups = true;
    make_disk(azure, "d", 2);
    ask(azure, "POST", "{P}/virtualMachines/vm1/attachDetachDataDisks",
        "{'dataDisksToAttach': [{'diskId': '" P "/disks/D'}]}", &accepted);
    loop_advance(azure->loop, 10000);
    json_t *json = ask_json(azure, "GET", "{P}/disks/d", NULL, 200);
    const char *vm = "/subscriptions/" SUBSCRIPTION
                     "/resourceGroups/RG/providers/Microsoft.Compute/virtualMachines/vm1";
    expect_text(json, "id", P "/disks/d");
    expect_text(json, "managedBy", vm);
    assert_string_equal(
        json_string_value(json_array_get(resource_get(json, "managedByExtended"), 0)), vm);
    expect_text(json_array_get(resource_get(json, "properties.shareInfo"), 0), "vmUri", vm);
    json_decref(json);
    azure_free(azure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life_of_a_snapshot),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_a_disk_that_is_filled_in_the_background),
        cmocka_unit_test(test_access_ends_by_itself_or_when_it_is_revoked),
        cmocka_unit_test(test_subscription_and_groups),
        cmocka_unit_test(test_groups_in_upper_case),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
