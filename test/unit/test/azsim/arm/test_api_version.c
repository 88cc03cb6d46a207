/* Clients of different age: what they are told, what they may send, and how they say it. */
#include "lib/base/alloc.h"
#include "test/azsim/model/resource.h"
#include "test/azsim/model/vm.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/azure.h"

#define P "/subscriptions/" SUBSCRIPTION "/resourceGroups/rg/providers/Microsoft.Compute"
#define D P "/disks/d"

/* A shared disk attached to vm1, an incremental snapshot of it, and an instance of a scale set. */
static struct azure *azure_with_all(void)
{
    struct azure *azure = azure_new(NULL);
    CLEANUP(http_response_finip) struct http_response response = {0};
    struct vm_spec spec = {.name = mem_strdup("pool000003"),
                           .size = vm_size_find("Standard_D4s_v5"),
                           .zone = mem_strdup("1"),
                           .scale_set = mem_strdup("pool"),
                           .instance_id = mem_strdup("3")};
    struct vm *vm;

    assert_ok(vm_add(azure->model, azure->model->groups[0], &spec, &vm));
    make_disk(azure, "d", 2);
    ask(azure, "POST", "{P}/virtualMachines/vm1/attachDetachDataDisks?api-version=2025-04-01",
        "{'dataDisksToAttach': [{'diskId': '" D "', 'caching': 'None'}]}", &response);
    assert_int_equal(response.status, 202);
    loop_advance(azure->loop, 10 * 1000);
    json_decref(ask_json(azure, "PUT", "{P}/snapshots/s",
                         "{'location': 'eastus', 'properties': {'incremental': true, "
                         "'creationData': {'createOption': 'Copy', 'sourceResourceId': '" D "'}}}",
                         202));
    loop_advance(azure->loop, 1000);
    return azure;
}

/* ---- what they are told ---- */

static void expect_member(struct azure *azure, const char *path, const char *version,
                          const char *member, bool there)
{
    CLEANUP(freep) char *versioned = mem_printf("%s?api-version=%s", path, version);
    CLEANUP(json_decrefp) json_t *json = ask_json(azure, "GET", versioned, NULL, 200);
    const json_t *list = json_object_get(json, "value");

    if (!resource_get(list ? json_array_get(list, 0) : json, member) == there)
        fail_msg("%s of %s in %s is %s", member, path, version, there ? "missing" : "there");
}

static void test_members_are_told_since(void **state)
{
    static const struct {
        const char *path, *member, *before, *since;
    } rows[] = {
        {D, "properties.maxShares", "2019-07-01", "2019-11-01"},
        {D, "properties.shareInfo", "2019-07-01", "2019-11-01"},
        {D, "managedByExtended", "2019-07-01", "2019-11-01"},
        {D, "properties.encryption", "2019-03-01", "2019-07-01"},
        {D, "properties.networkAccessPolicy", "2019-11-01", "2020-05-01"},
        {D, "properties.tier", "2020-05-01", "2020-06-30"},
        {D, "properties.publicNetworkAccess", "2020-12-01", "2021-04-01"},
        {D, "properties.LastOwnershipUpdateTime", "2022-07-02", "2023-10-02"},
        {P "/disks", "properties.tier", "2020-05-01", "2020-06-30"},
        {P "/snapshots/s", "properties.diskState", "2020-05-01", "2020-06-30"},
        {P "/snapshots/s", "properties.completionPercent", "2020-12-01", "2021-04-01"},
        {P "/snapshots/s", "properties.incrementalSnapshotFamilyId", "2022-03-02", "2022-07-02"},
        {P "/snapshots/s", "properties.snapshotAccessState", "2024-03-02", "2025-01-02"},
        {P "/virtualMachines/vm1", "etag", "2023-07-01", "2023-09-01"},
        {P "/virtualMachines/vm1", "properties.timeCreated", "2021-07-01", "2021-11-01"},
        {P "/virtualMachines/vm1", "properties.storageProfile.diskControllerType", "2022-03-01",
         "2022-08-01"},
        {P "/virtualMachines", "etag", "2023-07-01", "2023-09-01"},
        {P "/virtualMachineScaleSets/pool", "etag", "2023-07-01", "2023-09-01"},
        {P "/virtualMachineScaleSets/pool/virtualMachines/3", "etag", "2023-07-01", "2023-09-01"},
    };
    struct azure *azure = azure_with_all();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        expect_member(azure, rows[i].path, rows[i].before, rows[i].member, false);
        expect_member(azure, rows[i].path, rows[i].since, rows[i].member, true);
    }
    /* What is always told, and that an older reader changed nothing. */
    expect_member(azure, D, "2019-03-01", "managedBy", true);
    expect_member(azure, D, "2019-03-01", "properties.diskState", true);
    expect_member(azure, P "/snapshots/s", "2019-03-01", "properties.incremental", true);
    expect_member(azure, D, "2025-01-02", "properties.maxShares", true);
    azure_free(azure);
}

static void test_data_disks_and_results_of_operations(void **state)
{
    static const char disk[] = "{'location': 'eastus', 'properties': {'creationData': "
                               "{'createOption': 'Empty'}, 'diskSizeGB': 4}}";
    struct azure *azure = azure_with_all();
    CLEANUP(http_response_finip) struct http_response response = {0};

    (void)state;
    json_t *json =
        ask_json(azure, "GET", "{P}/virtualMachines/vm1?api-version=2020-12-01", NULL, 200);
    const json_t *item =
        json_array_get(resource_get(json, "properties.storageProfile.dataDisks"), 0);
    assert_null(json_object_get(item, "deleteOption"));
    assert_non_null(json_object_get(item, "toBeDetached"));
    json_decref(json);
    json = ask_json(azure, "GET", "{P}/virtualMachines/vm1?api-version=2021-03-01", NULL, 200);
    item = json_array_get(resource_get(json, "properties.storageProfile.dataDisks"), 0);
    assert_non_null(json_object_get(item, "deleteOption"));
    json_decref(json);

    ask(azure, "GET", "{P}/virtualMachines/vm1?api-version=2023-07-01", NULL, &response);
    assert_string_equal(header_of(&response, "ETag"), "");
    http_response_fini(&response);
    ask(azure, "PUT", "{P}/disks/e?api-version=2019-03-01", disk, &response);
    assert_int_equal(response.status, 202);
    loop_advance(azure->loop, 1000);
    json = ask_json(azure, "GET", header_of(&response, "Azure-AsyncOperation"), NULL, 200);
    assert_string_equal(resource_text(json, "properties.output.name", ""), "e");
    assert_null(resource_get(json, "properties.output.properties.encryption"));
    json_decref(json);
    azure_free(azure);
}

/* ---- what they may send ---- */

#define DISK_WITH(members)                                                                         \
    "{'location': 'eastus', 'properties': {" members ", 'creationData': {'createOption': "         \
    "'Empty'}, 'diskSizeGB': 4}}"
#define DATA_DISK "{'lun': 0, 'managedDisk': {'id': '" D "'}, 'toBeDetached': true"

static const struct {
    const char *method, *path, *before, *since, *body;
    int status; /* since then */
    const char *target, *message;
} requests[] = {
    {"PUT", "{P}/disks/e", "2019-03-01", "2020-05-01",
     DISK_WITH("'networkAccessPolicy': 'DenyAll'"), 202,
     "diskDescription.properties.networkAccessPolicy",
     "Could not find member 'networkAccessPolicy' on object of type 'DiskProperties'. Path "
     "'properties.networkAccessPolicy', line 1, position 60."},
    {"PATCH", "{P}/disks/d", "2019-07-01", "2019-11-01", "{'properties': {'maxShares': 2}}", 202,
     "diskDescription.properties.maxShares",
     "Could not find member 'maxShares' on object of type 'DiskProperties'. Path "
     "'properties.maxShares', line 1, position 28."},
    {"PATCH", "{P}/snapshots/s", "2020-12-01", "2021-04-01",
     "{'properties': {'publicNetworkAccess': 'Disabled'}}", 202,
     "snapshotDescription.properties.publicNetworkAccess",
     "Could not find member 'publicNetworkAccess' on object of type 'SnapshotProperties'. Path "
     "'properties.publicNetworkAccess', line 1, position 38."},
    {"PATCH", "{P}/virtualMachines/vm1", "2020-06-01", "2020-12-01",
     "{'properties': {'storageProfile': {'dataDisks': [" DATA_DISK
     ", 'detachOption': 'ForceDetach'}]}}}",
     200, "vm.properties.storageProfile.dataDisks[0].detachOption",
     "Could not find member 'detachOption' on object of type 'DataDisk'. Path "
     "'properties.storageProfile.dataDisks[0].detachOption', line 1, position 229."},
};

static void test_members_may_be_sent_since(void **state)
{
    struct azure *azure = azure_with_all();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        CLEANUP(freep)
        char *before = mem_printf("%s?api-version=%s", requests[i].path, requests[i].before);
        CLEANUP(freep)
        char *since = mem_printf("%s?api-version=%s", requests[i].path, requests[i].since);
        json_t *json = ask_json(azure, requests[i].method, before, requests[i].body, 400);

        assert_string_equal(resource_text(json, "error.code", ""), "BadRequest");
        assert_string_equal(resource_text(json, "error.target", ""), requests[i].target);
        assert_string_equal(resource_text(json, "error.message", ""), requests[i].message);
        json_decref(json);
        json_decref(
            ask_json(azure, requests[i].method, since, requests[i].body, requests[i].status));
    }
    azure_free(azure);
}

/* ---- how they say it ---- */

/* The source of a snapshot as clients named it until 2021. */
static void test_source_uri_of_a_snapshot(void **state)
{
    static const char body[] = "{'location': 'eastus', 'properties': {'incremental': true, "
                               "'creationData': {'createOption': 'Copy', 'sourceUri': '" D "'}}}";
    static const char blob[] =
        "{'location': 'eastus', 'properties': {'creationData': {'createOption': 'Copy', "
        "'sourceUri': 'https://a.blob.core.windows.net/vhds/a.vhd'}}}";
    static const char *const versions[] = {"2019-03-01", "2019-07-01", "2020-12-01", "2022-07-02"};
    struct azure *azure = azure_with_all();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        CLEANUP(freep)
        char *path = mem_printf("{P}/snapshots/s%zu?api-version=%s", i, versions[i]);

        for (int again = 0; again < 2; again++) { /* the second one changes nothing */
            json_decref(ask_json(azure, "PUT", path, body, 202));
            loop_advance(azure->loop, 3000);
        }
        json_t *json = ask_json(azure, "GET", path, NULL, 200);
        assert_string_equal(resource_text(json, "properties.creationData.sourceResourceId", ""), D);
        assert_null(resource_get(json, "properties.creationData.sourceUri"));
        json_decref(json);
    }
    json_t *json = ask_json(azure, "PUT", "{P}/snapshots/t?api-version=2019-07-01", blob, 400);
    assert_string_equal(resource_text(json, "error.code", ""), "InvalidParameter");
    json_decref(json);
    azure_free(azure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_are_told_since),
        cmocka_unit_test(test_data_disks_and_results_of_operations),
        cmocka_unit_test(test_members_may_be_sent_since),
        cmocka_unit_test(test_source_uri_of_a_snapshot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
