/* Virtual machines and SKUs as clients of ARM see them. */
#include "lib/base/alloc.h"
#include "test/azsim/model/resource.h"
#include "test/azsim/model/vm.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/azure.h"

#define DISK(name)                                                                                 \
    "/subscriptions/" SUBSCRIPTION "/resourceGroups/rg/providers/Microsoft.Compute/disks/" name
#define VM1 "{P}/virtualMachines/vm1"
#define ATTACH(name) "{'dataDisksToAttach': [{'diskId': '" DISK(name) "'}]}"
#define LIST(entries) "{'properties': {'storageProfile': {'dataDisks': [" entries "]}}}"
#define ENTRY(name, lun)                                                                           \
    "{'lun': " lun ", 'createOption': 'Attach', 'managedDisk': {'id': '" DISK(name) "'}}"

static void expect_text(const json_t *json, const char *path, const char *expected)
{
    if (strcmp(resource_text(json, path, "(nothing)"), expected) != 0)
        fail_msg("%s is %s, not %s", path, resource_text(json, path, "(nothing)"), expected);
}

static const json_t *data_disk(const json_t *vm, size_t i)
{
    return json_array_get(resource_get(vm, "properties.storageProfile.dataDisks"), i);
}

static void test_shape_of_a_vm(void **state)
{
    static const struct {
        const char *path, *value;
    } texts[] = {
        {"name", "vm1"},
        {"type", "Microsoft.Compute/virtualMachines"},
        {"etag", "\"1\""},
        {"identity.type", "SystemAssigned"},
        {"properties.provisioningState", "Succeeded"},
        {"properties.hardwareProfile.vmSize", "Standard_D4s_v5"},
        {"properties.storageProfile.diskControllerType", "SCSI"},
        {"properties.storageProfile.osDisk.name", "vm1_OsDisk_1"},
        {"properties.osProfile.computerName", "vm1"},
        {"properties.timeCreated", "2026-01-01T00:00:00.0000000+00:00"},
    };
    struct azure *azure = azure_new(NULL);
    CLEANUP(http_response_finip) struct http_response response = {0};

    (void)state;
    ask(azure, "GET", VM1, NULL, &response);
    assert_string_equal(header_of(&response, "ETag"), "\"1\"");
    json_t *json = json_loads(response.body, 0, NULL);
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        expect_text(json, texts[i].path, texts[i].value);
    assert_string_equal(json_string_value(json_array_get(resource_get(json, "zones"), 0)), "1");
    assert_int_equal(json_array_size(resource_get(json, "properties.storageProfile.dataDisks")), 0);
    assert_null(resource_get(json, "properties.instanceView"));
    json_decref(json);

    json = ask_json(azure, "GET", "{P}/virtualMachines/vm2", NULL, 200);
    assert_null(resource_get(json, "identity"));
    json_decref(json);
    azure_free(azure);
}

static void test_instance_view(void **state)
{
    struct azure *azure = azure_new(NULL);

    (void)state;
    vm_set_power(azure->model->vms, POWER_DEALLOCATED);
    json_t *json =
        ask_json(azure, "GET", VM1 "?$expand=instanceView&api-version=2025-04-01", NULL, 200);
    const json_t *statuses = resource_get(json, "properties.instanceView.statuses");
    expect_text(json_array_get(statuses, 0), "code", "ProvisioningState/succeeded");
    expect_text(json_array_get(statuses, 1), "code", "PowerState/deallocated");
    expect_text(json_array_get(statuses, 1), "displayStatus", "VM deallocated");
    json_decref(json);
    json = ask_json(azure, "GET", VM1 "/instanceView", NULL, 200);
    assert_int_equal(json_array_size(resource_get(json, "statuses")), 2);
    json_decref(json);
    azure_free(azure);
}

/* It is asked for as a deallocation, and looks like one but for a further status. */
static void test_hibernation(void **state)
{
    struct azure *azure = azure_new(NULL);
    CLEANUP(http_response_finip) struct http_response accepted = {0};

    (void)state;
    ask(azure, "POST", VM1 "/deallocate?hibernate=true&api-version=2025-04-01", NULL, &accepted);
    assert_int_equal(accepted.status, 202);
    loop_advance(azure->loop, 60 * 1000);
    json_t *json = ask_json(azure, "GET", VM1 "/instanceView", NULL, 200);
    const json_t *statuses = json_object_get(json, "statuses");
    expect_text(json_array_get(statuses, 1), "code", "PowerState/deallocated");
    expect_text(json_array_get(statuses, 2), "code", "HibernationState/Hibernated");
    json_decref(json);
    vm_set_power(azure->model->vms, POWER_RUNNING);
    json = ask_json(azure, "GET", VM1 "/instanceView", NULL, 200);
    assert_int_equal(json_array_size(json_object_get(json, "statuses")), 2);
    json_decref(json);
    azure_free(azure);
}

static void test_attach_by_action(void **state)
{
    struct azure *azure = azure_new(NULL);
    CLEANUP(http_response_finip) struct http_response accepted = {0};

    (void)state;
    make_disk(azure, "d", 1);
    ask(azure, "POST", VM1 "/attachDetachDataDisks", ATTACH("d"), &accepted);
    assert_int_equal(accepted.status, 202);
    assert_int_equal(accepted.body_length, 0);

    json_t *json = ask_json(azure, "GET", VM1, NULL, 200);
    expect_text(json, "properties.provisioningState", "Updating");
    expect_text(json, "etag", "\"2\"");
    expect_text(data_disk(json, 0), "name", "d");
    expect_text(data_disk(json, 0), "caching", "ReadOnly");
    expect_text(data_disk(json, 0), "createOption", "Attach");
    expect_text(data_disk(json, 0), "deleteOption", "Detach");
    expect_text(data_disk(json, 0), "managedDisk.id", DISK("d"));
    expect_text(data_disk(json, 0), "managedDisk.storageAccountType", "Premium_LRS");
    assert_int_equal(json_integer_value(json_object_get(data_disk(json, 0), "diskSizeGB")), 10);
    assert_true(json_is_false(json_object_get(data_disk(json, 0), "toBeDetached")));
    assert_null(json_object_get(data_disk(json, 0), "diskId"));
    json_decref(json);

    loop_advance(azure->loop, 10000);
    json = ask_json(azure, "GET", header_of(&accepted, "Azure-AsyncOperation"), NULL, 200);
    expect_text(json, "status", "Succeeded");
    assert_null(resource_get(json, "properties"));
    json_decref(json);
    json = ask_json(azure, "GET", header_of(&accepted, "Location"), NULL, 200);
    expect_text(json_array_get(json_object_get(json, "dataDisks"), 0), "name", "d");
    json_decref(json);
    azure_free(azure);
}

static void test_attach_by_list(void **state)
{
    struct azure *azure = azure_new(NULL);
    CLEANUP(http_response_finip) struct http_response accepted = {0}, nothing = {0};

    (void)state;
    make_disk(azure, "d", 1);
    ask(azure, "PATCH", VM1, LIST(ENTRY("d", "4")), &accepted);
    assert_int_equal(accepted.status, 200);
    assert_non_null(strstr(accepted.body, "\"Updating\""));
    assert_string_equal(header_of(&accepted, "ETag"), "\"2\"");
    assert_string_equal(header_of(&accepted, "Location"), "");
    json_t *json = ask_json(azure, "GET", header_of(&accepted, "Azure-AsyncOperation"), NULL, 200);
    expect_text(json, "status", "InProgress");
    json_decref(json);
    loop_advance(azure->loop, 10000);

    /* The same again is no change, and there is nothing to follow. */
    ask(azure, "PATCH", VM1, LIST(ENTRY("d", "4")), &nothing);
    assert_int_equal(nothing.status, 200);
    assert_string_equal(header_of(&nothing, "Azure-AsyncOperation"), "");
    assert_non_null(strstr(nothing.body, "\"Updating\""));
    loop_advance(azure->loop, 1000);
    json = ask_json(azure, "GET", VM1, NULL, 200);
    expect_text(json, "properties.provisioningState", "Succeeded");
    json_decref(json);
    azure_free(azure);
}

/* By the whole list, as clients do that do not know the action. */
static void test_force_detach_by_list(void **state)
{
    struct azure *azure = azure_new(NULL);
    CLEANUP(http_response_finip) struct http_response response = {0};

    (void)state;
    make_disk(azure, "d", 1);
    json_decref(ask_json(azure, "PATCH", VM1, LIST(ENTRY("d", "4")), 200));
    loop_advance(azure->loop, 10 * 1000);
    ask(azure, "PATCH", VM1,
        LIST("{'lun': 4, 'managedDisk': {'id': '" DISK("d") "'}, 'toBeDetached': true, "
                                                            "'detachOption': 'ForceDetach'}"),
        &response);
    assert_int_equal(response.status, 200);
    loop_advance(azure->loop, 0); /* force does not wait */
    json_t *json = ask_json(azure, "GET", VM1, NULL, 200);
    expect_text(json, "properties.provisioningState", "Succeeded");
    assert_null(data_disk(json, 0));
    json_decref(json);
    azure_free(azure);
}

static void test_a_failed_operation_is_a_good_answer(void **state)
{
    struct azure *azure = azure_new(NULL);
    CLEANUP(http_response_finip) struct http_response first = {0}, second = {0}, result = {0};

    (void)state;
    make_disk(azure, "d", 1);
    ask(azure, "POST", VM1 "/attachDetachDataDisks", ATTACH("d"), &first);
    ask(azure, "PATCH", VM1, "{'tags': {'x': 'y'}}", &second);
    assert_int_equal(second.status, 200);
    json_t *json = ask_json(azure, "GET", header_of(&first, "Azure-AsyncOperation"), NULL, 200);
    expect_text(json, "status", "Failed");
    expect_text(json, "error.code", "OperationPreempted");
    json_decref(json);
    ask(azure, "GET", header_of(&first, "Location"), NULL, &result);
    assert_int_equal(result.status, 409);
    loop_advance(azure->loop, 10000);
    json = ask_json(azure, "GET", header_of(&second, "Azure-AsyncOperation"), NULL, 200);
    expect_text(json, "status", "Succeeded");
    json_decref(json);
    json = ask_json(azure, "GET", "{P}/disks/d", NULL, 200);
    expect_text(json, "properties.diskState", "Attached");
    json_decref(json);
    azure_free(azure);
}

static const struct {
    const char *name, *value;
    int status;
} preconditions[] = {
    {"If-Match", "\"1\"", 200},      {"If-Match", "1", 200},      {"If-Match", "*", 200},
    {"If-Match", "\"2\"", 412},      {"If-None-Match", "*", 412}, {"If-None-Match", "\"1\"", 412},
    {"If-None-Match", "\"2\"", 200},
};

static void test_preconditions(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(preconditions); i++) {
        struct azure *azure = azure_new(NULL);

        azure->extra[0] = (struct http_header){preconditions[i].name, preconditions[i].value};
        json_t *json = ask_json(azure, "PUT", VM1, "{'tags': {'a': 'b'}}", preconditions[i].status);
        if (preconditions[i].status == 412)
            expect_text(json, "error.code", "PreconditionFailed");
        else
            expect_text(json, "tags.a", "b");
        json_decref(json);
        azure_free(azure);
    }
}

static const struct {
    const char *why, *method, *path, *body;
    int status;
    const char *code, *text;
} refusals[] = {
    {"a disk that is not there", "POST", VM1 "/attachDetachDataDisks", ATTACH("none"), 404,
     "NotFound", "Disk " DISK("none") " is not found."},
    {"an id that is none", "POST", VM1 "/attachDetachDataDisks",
     "{'dataDisksToAttach': [{'diskId': 'd'}]}", 400, "LinkedInvalidPropertyId", "'d'"},
    {"an id of something else", "POST", VM1 "/attachDetachDataDisks",
     "{'dataDisksToAttach': [{'diskId': '/subscriptions/" SUBSCRIPTION
     "/resourceGroups/rg/providers/Microsoft.Compute/snapshots/d'}]}",
     400, "LinkedInvalidPropertyId", "snapshots"},
    {"a disk of another subscription", "POST", VM1 "/attachDetachDataDisks",
     "{'dataDisksToAttach': [{'diskId': '/subscriptions/" CLIENT
     "/resourceGroups/rg/providers/Microsoft.Compute/disks/d'}]}",
     400, "InvalidParameter", "must match the subscription " CLIENT},
    {"nothing to do", "POST", VM1 "/attachDetachDataDisks", "{}", 400, "InvalidParameter",
     "dataDisksToAttach"},
    {"a list that is none", "PATCH", VM1, "{'properties': {'storageProfile': {'dataDisks': {}}}}",
     400, "InvalidRequestContent", "dataDisks: a list is expected"},
    {"disks that are no list", "POST", VM1 "/attachDetachDataDisks",
     "{'dataDisksToAttach': {'diskId': 'd'}}", 400, "InvalidRequestContent",
     "dataDisksToAttach: a list is expected"},
    {"an entry without a LUN", "PATCH", VM1,
     LIST("{'createOption': 'Attach', 'managedDisk': {'id': '" DISK("d") "'}}"), 400,
     "InvalidParameter", "dataDisk.lun"},
    {"an entry without a disk", "PATCH", VM1, LIST("{'lun': 0}"), 400, "InvalidParameter",
     "dataDisk.managedDisk.id"},
    {"an entry that is no object", "PATCH", VM1, LIST("7"), 400, "InvalidParameter", "lun"},
    {"an entry that is to make a disk", "PATCH", VM1,
     LIST("{'lun': 0, 'createOption': 'Empty', 'managedDisk': {'id': '" DISK("d") "'}}"), 400,
     "InvalidParameterConflictingProperties",
     "The property 'dataDisk.createOption' cannot have the value 'Empty'"},
    {"caching of a shared disk", "PATCH", VM1,
     LIST("{'lun': 0, 'caching': 'ReadOnly', 'managedDisk': {'id': '" DISK("shared") "'}}"), 400,
     "BadRequest", "Shared disk 'shared' with maxShares 2 supports only Disk CachingType 'None'."},
    {"another encryption set", "PATCH", VM1,
     LIST("{'lun': 0, 'managedDisk': {'id': '" DISK("d") "', 'diskEncryptionSet': {'id': '/x'}}}"),
     400, "InvalidParameter", "'/x' of the request does not match that of disk 'd'"},
    {"a way of caching that there is not", "PATCH", VM1,
     LIST("{'lun': 0, 'caching': 'Some', 'managedDisk': {'id': '" DISK("d") "'}}"), 400,
     "InvalidParameter", "'Some'"},
    {"too many disks", "PATCH", VM1,
     LIST(ENTRY("d", "0") "," ENTRY("d1", "1") "," ENTRY("d2", "2") "," ENTRY("d3", "3") "," ENTRY(
         "d4", "4") "," ENTRY("d5", "5") "," ENTRY("d6", "6") "," ENTRY("d7", "7") "," ENTRY("d8",
                                                                                             "8")),
     409, "OperationNotAllowed",
     "The maximum number of data disks allowed to be attached to a VM of this size is 8."},
    {"a size that there is not", "PATCH", VM1,
     "{'properties': {'hardwareProfile': {'vmSize': 'Standard_X1'}}}", 400, "InvalidParameter",
     "'Standard_X1'"},
};

static void test_refusals(void **state)
{
    struct azure *azure = azure_new(NULL);
    char name[4] = "d0";

    (void)state;
    make_disk(azure, "d", 1);
    make_disk(azure, "shared", 2);
    for (name[1] = '1'; name[1] <= '8'; name[1]++)
        make_disk(azure, name, 1);
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        json_t *json = ask_json(azure, refusals[i].method, refusals[i].path, refusals[i].body,
                                refusals[i].status);

        if (strcmp(resource_text(json, "error.code", ""), refusals[i].code) != 0 ||
            !strstr(resource_text(json, "error.message", ""), refusals[i].text))
            fail_msg("%s: %s: %s", refusals[i].why, resource_text(json, "error.code", ""),
                     resource_text(json, "error.message", ""));
        json_decref(json);
    }
    json_t *json = ask_json(azure, "GET", VM1, NULL, 200);
    expect_text(json, "etag", "\"1\""); /* nothing of it left a trace */
    json_decref(json);
    azure_free(azure);
}

static void test_list(void **state)
{
    struct azure *azure = azure_new(&(struct arm_config){.page_size = 1});

    (void)state;
    json_t *json = ask_json(azure, "GET", "{P}/virtualMachines", NULL, 200);
    assert_int_equal(json_array_size(json_object_get(json, "value")), 1);
    CLEANUP(freep) char *next = mem_strdup(resource_text(json, "nextLink", ""));
    json_decref(json);
    json = ask_json(azure, "GET", next, NULL, 200);
    expect_text(json_array_get(json_object_get(json, "value"), 0), "name", "vm2");
    assert_null(json_object_get(json, "nextLink"));
    json_decref(json);
    json = ask_json(azure, "GET", "{Q}/virtualMachines?api-version=2025-04-01&$expand=instanceView",
                    NULL, 200);
    assert_non_null(resource_get(json_array_get(json_object_get(json, "value"), 0),
                                 "properties.instanceView.statuses"));
    json_decref(json);
    azure_free(azure);
}

/* ---- SKUs ---- */

static const char *capability(const json_t *list, const char *type, const char *name,
                              const char *size, const char *capability_name)
{
    size_t i, j;
    json_t *row, *item;

    json_array_foreach(list, i, row) {
        if (strcmp(resource_text(row, "resourceType", ""), type) != 0 ||
            strcmp(resource_text(row, "name", ""), name) != 0 ||
            (size && strcmp(resource_text(row, "size", ""), size) != 0))
            continue;
        json_array_foreach(json_object_get(row, "capabilities"), j, item)
            if (strcmp(resource_text(item, "name", ""), capability_name) == 0)
                return resource_text(item, "value", "");
    }
    return "(nothing)";
}

static void test_skus(void **state)
{
    struct azure *azure = azure_new(NULL);
    json_t *json =
        ask_json(azure, "GET",
                 "{Q}/skus?api-version=2021-07-01&$filter=location%20eq%20%27eastus%27", NULL, 200);
    const json_t *list = json_object_get(json, "value");

    (void)state;
    assert_string_equal(
        capability(list, "virtualMachines", "Standard_D4s_v5", NULL, "MaxDataDiskCount"), "8");
    assert_string_equal(
        capability(list, "virtualMachines", "Standard_D2s_v6", NULL, "DiskControllerTypes"),
        "NVMe");
    assert_string_equal(capability(list, "virtualMachines", "Standard_D2_v3", NULL, "PremiumIO"),
                        "False");
    assert_string_equal(capability(list, "disks", "Premium_LRS", "P15", "MaxSizeGiB"), "256");
    assert_string_equal(capability(list, "disks", "Premium_LRS", "P15", "MinSizeGiB"), "128");
    assert_string_equal(capability(list, "disks", "Premium_LRS", "P15", "MaxIOps"), "1100");
    assert_string_equal(capability(list, "disks", "Premium_LRS", "P30", "MaxValueOfMaxShares"),
                        "5");
    assert_string_equal(capability(list, "disks", "PremiumV2_LRS", "P", "MaxIopsPerGiBReadWrite"),
                        "500");
    assert_string_equal(capability(list, "disks", "UltraSSD_LRS", "U", "MinIOpsReadWrite"), "100");
    assert_string_equal(capability(list, "disks", "Standard_LRS", "S4", "MaxValueOfMaxShares"),
                        "1");
    json_decref(json);
    json = ask_json(azure, "GET", "{Q}/skus?api-version=2021-07-01&$filter=location eq 'mars'",
                    NULL, 200);
    assert_int_equal(json_array_size(json_object_get(json, "value")), 0);
    json_decref(json);
    azure_free(azure);
}

/* ---- the journal's view ---- */

static void test_records_say_which_disks_a_change_was_about(void **state)
{
    struct azure *azure = azure_new(NULL);

    (void)state;
    make_disk(azure, "a", 1);
    make_disk(azure, "b", 1);
    make_disk(azure, "c", 1);
    json_decref(ask_json(azure, "PATCH", VM1, LIST(ENTRY("a", "0") "," ENTRY("b", "1")), 200));
    loop_advance(azure->loop, 10000);
    json_array_clear(azure->records);
    json_decref(ask_json(azure, "PATCH", VM1, LIST(ENTRY("b", "1") "," ENTRY("c", "2")), 200));
    json_decref(ask_json(azure, "POST", VM1 "/attachDetachDataDisks", ATTACH("a"), 409));
    json_t *expected = json_of("[{'kind': 'virtualMachines.update', 'status': 200, 'principal': "
                               "'" CLIENT "', 'resource': 'vm1', 'vm': 'vm1', 'latency': 0, "
                               "'attached': ['c'], 'detached': ['a']},"
                               "{'kind': 'virtualMachines.attachDetachDataDisks', 'status': 409, "
                               "'principal': '" CLIENT "', 'resource': 'vm1', 'vm': 'vm1', "
                               "'latency': 0}]");
    if (!json_equal(azure->records, expected))
        json_dumpf(azure->records, stderr, JSON_INDENT(1));
    assert_true(json_equal(azure->records, expected));
    json_decref(expected);
    azure_free(azure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape_of_a_vm),
        cmocka_unit_test(test_instance_view),
        cmocka_unit_test(test_hibernation),
        cmocka_unit_test(test_attach_by_action),
        cmocka_unit_test(test_attach_by_list),
        cmocka_unit_test(test_force_detach_by_list),
        cmocka_unit_test(test_a_failed_operation_is_a_good_answer),
        cmocka_unit_test(test_preconditions),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_skus),
        cmocka_unit_test(test_records_say_which_disks_a_change_was_about),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
