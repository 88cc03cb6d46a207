/* Resource groups that clients make, change and delete, with what is in them. */
#include "lib/base/alloc.h"
#include "test/azsim/model/group.h"
#include "test/azsim/model/record.h"
#include "test/azsim/model/scale_set.h"
#include "test/azsim/model/snapshot.h"
#include "test/azsim/model/vm.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/azure.h"

#define S "/subscriptions/" SUBSCRIPTION
#define V "?api-version=2021-04-01"
#define GROUP(name) S "/resourcegroups/" name V
#define RESOURCE(group, kind, name)                                                                \
    S "/resourceGroups/" group "/providers/Microsoft.Compute/" kind "/" name
#define DISK                                                                                       \
    "{'location': 'eastus', 'zones': ['1'], 'sku': {'name': 'Premium_LRS'}, 'properties': "        \
    "{'creationData': {'createOption': 'Empty'}, 'diskSizeGB': 10}}"

static void expect_text(const json_t *json, const char *path, const char *expected)
{
    assert_string_equal(resource_text(json, path, "(nothing)"), expected);
}

static int status_of(struct azure *azure, const char *method, const char *path, const char *body)
{
    CLEANUP(http_response_finip) struct http_response response = {0};

    ask(azure, method, path, body, &response);
    return response.status;
}

static void expect_refusal(struct azure *azure, const char *method, const char *path,
                           const char *body, int status, const char *code, const char *text)
{
    CLEANUP(json_decrefp) json_t *json = ask_json(azure, method, path, body, status);

    expect_text(json, "error.code", code);
    if (!strstr(resource_text(json, "error.message", ""), text))
        fail_msg("%s: %s", path, resource_text(json, "error.message", ""));
}

static void put_disk(struct azure *azure, const char *path)
{
    json_decref(ask_json(azure, "PUT", path, DISK, 202));
    loop_advance(azure->loop, 1000);
}

static void attach(struct azure *azure, const char *vm, const char *disk)
{
    CLEANUP(freep) char *path = mem_printf("%s/attachDetachDataDisks", vm);
    CLEANUP(freep) char *body = mem_printf("{'dataDisksToAttach': [{'diskId': '%s'}]}", disk);

    assert_int_equal(status_of(azure, "POST", path, body), 202);
    loop_advance(azure->loop, 10 * 1000);
}

/* Begins a deletion; where to ask for its end. */
static char *begin_delete(struct azure *azure, const char *path)
{
    CLEANUP(http_response_finip) struct http_response response = {0};

    ask(azure, "DELETE", path, NULL, &response);
    assert_int_equal(response.status, 202);
    assert_int_equal(response.body_length, 0);
    assert_string_equal(header_of(&response, "Retry-After"), "15");
    assert_string_equal(header_of(&response, "Azure-AsyncOperation"), "");
    return mem_strdup(header_of(&response, "Location"));
}

/* ---- make and change ---- */

static void test_make_and_change(void **state)
{
    struct azure *azure = azure_new(NULL);

    (void)state;
    assert_int_equal(status_of(azure, "HEAD", GROUP("New"), NULL), 404);
    json_t *json = ask_json(azure, "PUT", GROUP("New"),
                            "{'location': 'East US', 'tags': {'a': '1', 'b': '2'}}", 201);
    expect_text(json, "id", S "/resourceGroups/New");
    expect_text(json, "name", "New");
    expect_text(json, "type", "Microsoft.Resources/resourceGroups");
    expect_text(json, "location", "eastus");
    expect_text(json, "tags.a", "1");
    expect_text(json, "properties.provisioningState", "Succeeded");
    json_decref(json);
    assert_int_equal(status_of(azure, "HEAD", GROUP("NEW"), NULL), 204);
    json = ask_json(azure, "PUT", GROUP("new"), "{'location': 'eastus', 'tags': {'c': '3'}}", 200);
    expect_text(json, "name", "New"); /* the case in which it was made */
    expect_text(json, "tags.c", "3");
    assert_null(resource_get(json, "tags.a"));
    json_decref(json);
    json = ask_json(azure, "PATCH", GROUP("new"), "{'tags': {'d': '4'}}", 200);
    expect_text(json, "tags.d", "4");
    assert_null(resource_get(json, "tags.c"));
    json_decref(json);
    json = ask_json(azure, "PUT", GROUP("new"), "{'location': 'eastus'}", 200);
    assert_null(resource_get(json, "tags"));
    json_decref(json);
    json_decref(ask_json(azure, "PUT", GROUP("far"), "{'location': 'West Europe'}", 201));
    json_decref(ask_json(azure, "PUT", GROUP("far"), "{'location': 'eastus'}", 409));
    json = ask_json(azure, "PATCH", GROUP("far"), "{'tags': {'a': '1'}}", 200);
    expect_text(json, "location", "westeurope");
    json_decref(json);
    put_disk(azure, RESOURCE("far", "disks", "d")); /* which is not where its group is */
    put_disk(azure, RESOURCE("new", "disks", "d"));
    json = ask_json(azure, "GET", RESOURCE("NEW", "disks", "d"), NULL, 200);
    expect_text(json, "id", RESOURCE("New", "disks", "d"));
    json_decref(json);
    azure_free(azure);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *method, *path, *body;
        int status;
        const char *code, *text;
    } rows[] = {
        {"PUT", GROUP("new"), "{}", 400, "LocationRequired", "location property is required"},
        {"PUT", GROUP("new"), "{'location': 'mars'}", 400, "LocationNotAvailableForResourceGroup",
         "The provided location 'mars' is not available for resource group. List of available "
         "regions is 'eastus,northeurope,westeurope,westus'."},
        {"PUT", GROUP("rg"), "{'location': 'mars'}", 409, "InvalidResourceGroupLocation",
         "Invalid resource group location 'mars'. The Resource group already exists in location "
         "'eastus'."},
        {"PUT", GROUP("a!b*"), "{'location': 'eastus'}", 400, "InvalidResourceGroup",
         "The provided resource group name 'a!b*' has these invalid characters: '!*'. The name can "
         "only be a letter, digit, '-', '.', '(', ')' or '_'."},
        {"PUT", GROUP("a."), "{'location': 'eastus'}", 400, "InvalidResourceGroup", "'a.'"},
        {"GET", GROUP("a!"), NULL, 400, "InvalidResourceGroup", "'a!'"},
        {"PUT", GROUP("rg"), "{'location': 'eastus', 'tags': 1}", 400, "InvalidRequestContent",
         "tags"},
        {"PATCH", GROUP("none"), "{}", 404, "ResourceGroupNotFound", "'none'"},
        {"DELETE", GROUP("none"), NULL, 404, "ResourceGroupNotFound", "'none'"},
        {"POST", GROUP("rg"), NULL, 405, "HttpMethodNotSupported", "'POST'"},
    };
    struct azure *azure = azure_new(NULL);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        expect_refusal(azure, rows[i].method, rows[i].path, rows[i].body, rows[i].status,
                       rows[i].code, rows[i].text);
    azure_free(azure);
}

/* ---- delete ---- */

/* A disk, a snapshot of it, the VMs, one of them with the disk, and one of a scale set. */
static struct azure *azure_with_things(void)
{
    struct azure *azure = azure_new(NULL);
    struct vm_spec spec = {.name = mem_strdup("pool000003"),
                           .size = vm_size_find("Standard_D4s_v5"),
                           .zone = mem_strdup("1"),
                           .scale_set = mem_strdup("pool"),
                           .instance_id = mem_strdup("3")};
    struct vm *vm;

    assert_ok(vm_add(azure->model, azure->model->groups[0], &spec, &vm));
    put_disk(azure, RESOURCE("rg", "disks", "d"));
    json_decref(ask_json(azure, "PUT", RESOURCE("rg", "snapshots", "s"),
                         "{'location': 'eastus', 'properties': {'creationData': {'createOption': "
                         "'Copy', 'sourceResourceId': '" RESOURCE("rg", "disks", "d") "'}}}",
                         202));
    loop_advance(azure->loop, 1000);
    attach(azure, RESOURCE("rg", "virtualMachines", "vm1"), RESOURCE("rg", "disks", "d"));
    return azure;
}

static void test_a_deletion_takes_everything_along(void **state)
{
    struct azure *azure = azure_with_things();

    (void)state;
    CLEANUP(freep) char *end = begin_delete(azure, GROUP("rg"));
    assert_non_null(strstr(end, S "/operationresults/"));
    CLEANUP(freep) char *again = begin_delete(azure, GROUP("rg")); /* the same one */
    json_t *json = ask_json(azure, "GET", GROUP("rg"), NULL, 200);
    expect_text(json, "properties.provisioningState", "Deleting");
    json_decref(json);
    expect_refusal(azure, "PUT", RESOURCE("rg", "disks", "e"), DISK, 409,
                   "ResourceGroupBeingDeleted",
                   "The resource group 'rg' is in deprovisioning state and cannot perform this "
                   "operation.");
    expect_refusal(azure, "PUT", GROUP("rg"), "{'location': 'eastus'}", 409,
                   "ResourceGroupBeingDeleted", "'rg'");
    expect_refusal(azure, "PATCH", RESOURCE("rg", "virtualMachines", "vm1"), "{}", 409,
                   "ResourceGroupBeingDeleted", "'rg'");
    json_decref(ask_json(azure, "GET", RESOURCE("rg", "disks", "d"), NULL, 200));

    CLEANUP(http_response_finip) struct http_response response = {0};
    ask(azure, "GET", end, NULL, &response);
    assert_int_equal(response.status, 202);
    assert_non_null(strstr(header_of(&response, "Location"), "/operationresults/"));
    http_response_fini(&response);
    loop_advance(azure->loop, 1000);
    ask(azure, "GET", end, NULL, &response);
    assert_int_equal(response.status, 200);
    assert_int_equal(response.body_length, 0);
    assert_int_equal(status_of(azure, "GET", again, NULL), 200);

    expect_refusal(azure, "GET", GROUP("rg"), NULL, 404, "ResourceGroupNotFound", "'rg'");
    assert_int_equal(HASH_COUNT(azure->model->disks), 0);
    assert_int_equal(HASH_COUNT(azure->model->snapshots), 0);
    assert_int_equal(HASH_COUNT(azure->model->vms), 0);
    assert_int_equal(HASH_COUNT(azure->model->scale_sets), 0);
    json_decref(ask_json(azure, "PUT", GROUP("rg"), "{'location': 'eastus'}", 201));
    put_disk(azure, RESOURCE("rg", "disks", "d"));
    azure_free(azure);
}

/* Operations that were under way end with it. */
static void test_a_deletion_in_the_middle_of_operations(void **state)
{
    struct azure *azure = azure_with_things();
    CLEANUP(http_response_finip) struct http_response creating = {0}, updating = {0};

    (void)state;
    assert_ok(latencies_set(&azure->model->latencies, "create=100s,update=100s"));
    ask(azure, "PUT", RESOURCE("rg", "disks", "e"), DISK, &creating);
    ask(azure, "PATCH", RESOURCE("rg", "virtualMachines", "vm2"), "{'tags': {'a': 'b'}}",
        &updating);
    CLEANUP(freep) char *end = begin_delete(azure, GROUP("rg"));
    loop_advance(azure->loop, 1000);
    assert_int_equal(status_of(azure, "GET", end, NULL), 200);
    loop_advance(azure->loop, 200 * 1000);
    json_t *json = ask_json(azure, "GET", header_of(&creating, "Azure-AsyncOperation"), NULL, 200);
    expect_text(json, "status", "Failed");
    json_decref(json);
    json = ask_json(azure, "GET", header_of(&updating, "Azure-AsyncOperation"), NULL, 200);
    expect_text(json, "error.code", "OperationPreempted");
    json_decref(json);
    azure_free(azure);
}

/* A disk that a VM of another group has is not deleted, and the group stays because of it. */
static void test_a_deletion_is_blocked(void **state)
{
    struct azure *azure = azure_with_things();

    (void)state;
    json_decref(ask_json(azure, "PUT", GROUP("other"), "{'location': 'eastus'}", 201));
    put_disk(azure, RESOURCE("other", "disks", "held"));
    put_disk(azure, RESOURCE("other", "disks", "free"));
    attach(azure, RESOURCE("rg", "virtualMachines", "vm1"), RESOURCE("other", "disks", "held"));
    CLEANUP(freep) char *end = begin_delete(azure, GROUP("other"));
    loop_advance(azure->loop, 1000);
    json_t *json = ask_json(azure, "GET", end, NULL, 409);
    expect_text(json, "error.code", "ResourceGroupDeletionBlocked");
    assert_non_null(strstr(resource_text(json, "error.message", ""),
                           "'Microsoft.Compute/disks/held' could not be deleted"));
    const json_t *detail = json_array_get(resource_get(json, "error.details"), 0);
    expect_text(detail, "target", RESOURCE("other", "disks", "held"));
    assert_non_null(
        strstr(resource_text(detail, "message", ""), "\"message\":\"Disk held is attached to VM "));
    json_decref(json);
    json = ask_json(azure, "GET", GROUP("other"), NULL, 200);
    expect_text(json, "properties.provisioningState", "Succeeded");
    json_decref(json);
    json = ask_json(azure, "GET", RESOURCE("other", "disks", "") V, NULL, 200);
    assert_int_equal(json_array_size(json_object_get(json, "value")), 1);
    json_decref(json);
    azure_free(azure);
}

/* ---- after a restart ---- */

static struct model *restored(struct loop *loop, const json_t *snapshot)
{
    struct model *model = model_new(&(struct model_config){
        .loop = loop, .tenant_id = TENANT, .subscription_id = SUBSCRIPTION, .location = "eastus"});

    model_add_group(model, "rg"); /* as the configuration has it */
    assert_ok(records_restore(model, snapshot));
    return model;
}

static void test_they_outlive_a_restart(void **state)
{
    struct azure *azure = azure_with_things();
    struct loop *loop = loop_new_virtual(2);

    (void)state;
    json_decref(
        ask_json(azure, "PUT", GROUP("New"), "{'location': 'eastus', 'tags': {'a': '1'}}", 201));
    CLEANUP(freep) char *end = begin_delete(azure, GROUP("rg"));
    CLEANUP(json_decrefp) json_t *deleting = records_of_model(azure->model);
    struct model *model = restored(loop, deleting);
    assert_non_null(model_find_group(model, "rg")->deletion);
    assert_string_equal(resource_text(model_find_group(model, "new")->body, "tags.a", ""), "1");
    loop_advance(loop, 100 * 1000); /* whose clock is behind */
    assert_null(model_find_group(model, "rg"));
    CLEANUP(json_decrefp) json_t *deleted = records_of_model(model);
    model_free(model);

    model = restored(loop, deleted); /* the configuration still has it, and Azure not any more */
    assert_null(model_find_group(model, "rg"));
    assert_int_equal(HASH_COUNT(model->disks), 0);
    CLEANUP(json_decrefp) json_t *again = records_of_model(model);
    assert_true(json_equal(deleted, again));
    model_free(model);
    loop_free(loop);
    azure_free(azure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_make_and_change),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_a_deletion_takes_everything_along),
        cmocka_unit_test(test_a_deletion_in_the_middle_of_operations),
        cmocka_unit_test(test_a_deletion_is_blocked),
        cmocka_unit_test(test_they_outlive_a_restart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
