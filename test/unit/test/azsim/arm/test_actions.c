/* What clients ask VMs and whole scale sets to do, and what becomes of it. */
#include "lib/base/alloc.h"
#include "test/azsim/model/attachment.h"
#include "test/azsim/model/record.h"
#include "test/azsim/model/scale_set.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/azure.h"

#define P "/subscriptions/" SUBSCRIPTION "/resourceGroups/rg/providers/Microsoft.Compute"
#define POOL P "/virtualMachineScaleSets/pool"
#define VM1 P "/virtualMachines/vm1"

static void expect_text(const json_t *json, const char *path, const char *expected)
{
    assert_string_equal(resource_text(json, path, "(nothing)"), expected);
}

/* A uniform "pool" with instances 1, 2 and 3. */
static struct azure *azure_with_pool(void)
{
    struct azure *azure = azure_new(NULL);

    for (int i = 1; i <= 3; i++) {
        struct vm_spec spec = {.name = mem_printf("pool00000%d", i),
                               .size = vm_size_find("Standard_D4s_v5"),
                               .zone = mem_strdup("1"),
                               .scale_set = mem_strdup("pool"),
                               .instance_id = mem_printf("%d", i)};
        struct vm *vm;

        assert_ok(vm_add(azure->model, azure->model->groups[0], &spec, &vm));
    }
    return azure;
}

/* Asks; how the operation ended, by its Location, after so long. */
static int act(struct azure *azure, const char *method, const char *path, const char *body,
               uint64_t ms)
{
    CLEANUP(http_response_finip) struct http_response accepted = {0}, result = {0};

    ask(azure, method, path, body, &accepted);
    if (accepted.status != 202)
        fail_msg("%s: %d %s", path, accepted.status, accepted.body);
    ask(azure, "GET", header_of(&accepted, "Location"), NULL, &result);
    assert_int_equal(result.status, 202);
    http_response_fini(&result);
    loop_advance(azure->loop, ms);
    ask(azure, "GET", header_of(&accepted, "Location"), NULL, &result);
    return result.status;
}

static enum power power_of(struct azure *azure, const char *name)
{
    const struct vm *vm = vm_find_by_name(azure->model, name);

    assert_non_null(vm);
    return vm->power;
}

static void expect_refusal(struct azure *azure, const char *method, const char *path,
                           const char *body, int status, const char *code, const char *text)
{
    CLEANUP(json_decrefp) json_t *json = ask_json(azure, method, path, body, status);

    expect_text(json, "error.code", code);
    if (!strstr(resource_text(json, "error.message", ""), text))
        fail_msg("%s: %s", path, resource_text(json, "error.message", ""));
}

/* ---- one VM ---- */

static void test_what_happens_in_a_guest(void **state)
{
    static const struct {
        const char *action, *member, *value;
    } rows[] = {
        {"assessPatches", "status", "Succeeded"},
        {"installPatches", "rebootStatus", "NotNeeded"},
    };
    struct azure *azure = azure_new(NULL);
    CLEANUP(http_response_finip) struct http_response accepted = {0};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *path = mem_printf(VM1 "/%s", rows[i].action);

        http_response_fini(&accepted);
        ask(azure, "POST", path, "{}", &accepted);
        loop_advance(azure->loop, 1000);
        json_t *json = ask_json(azure, "GET", header_of(&accepted, "Location"), NULL, 200);
        expect_text(json, rows[i].member, rows[i].value);
        json_decref(json);
    }
    http_response_fini(&accepted);
    ask(azure, "POST", VM1 "/runCommand", "{'commandId': 'RunShellScript'}", &accepted);
    expect_refusal(azure, "POST", VM1 "/runCommand", "{}", 409, "Conflict", "concurrent request");
    loop_advance(azure->loop, 1000);
    json_t *json = ask_json(azure, "GET", header_of(&accepted, "Location"), NULL, 200);
    const json_t *said = json_array_get(json_object_get(json, "value"), 0);
    assert_non_null(strstr(resource_text(said, "message", ""), "[stdout]"));
    json_decref(json);
    azure_free(azure);
}

static void test_a_generalized_vm_starts_no_more(void **state)
{
    struct azure *azure = azure_new(NULL);
    CLEANUP(http_response_finip) struct http_response response = {0};

    (void)state;
    expect_refusal(azure, "POST", VM1 "/generalize", NULL, 409, "OperationNotAllowed",
                   "Operation 'generalize' is not allowed on VM 'vm1' since the VM is running.");
    expect_refusal(azure, "POST", VM1 "/capture", "{}", 409, "OperationNotAllowed",
                   "because the VM is not generalized.");
    vm_set_power(vm_find_by_name(azure->model, "vm1"), POWER_STOPPED);
    ask(azure, "POST", VM1 "/generalize", NULL, &response);
    assert_int_equal(response.status, 200);
    expect_refusal(azure, "POST", VM1 "/start", NULL, 409, "OperationNotAllowed",
                   "Operation 'start' is not allowed on VM 'vm1' since the VM is generalized.");
    expect_refusal(azure, "POST", VM1 "/capture", "{}", 409, "OperationNotAllowed",
                   "only supported on a Virtual Machine with blob based disks.");
    expect_refusal(azure, "POST", VM1 "/runCommand", "{}", 409, "OperationNotAllowed",
                   "The operation requires the VM to be running (or set to run).");
    CLEANUP(json_decrefp) json_t *record = record_of_vm(vm_find_by_name(azure->model, "vm1"));
    assert_true(json_is_true(json_object_get(record, "generalized")));
    azure_free(azure);
}

/* ---- many instances ---- */

static void test_power_of_instances(void **state)
{
    struct azure *azure = azure_with_pool();

    (void)state;
    assert_int_equal(act(azure, "POST", POOL "/deallocate", "{'instanceIds': ['1', '3']}", 1000),
                     204);
    assert_int_equal(power_of(azure, "pool000001"), POWER_DEALLOCATED);
    assert_int_equal(power_of(azure, "pool000002"), POWER_RUNNING);
    assert_int_equal(power_of(azure, "pool000003"), POWER_DEALLOCATED);
    assert_int_equal(act(azure, "POST", POOL "/poweroff", NULL, 1000), 204);
    assert_int_equal(power_of(azure, "pool000002"), POWER_STOPPED);
    assert_int_equal(act(azure, "POST", POOL "/start", "{'instanceIds': ['*']}", 1000), 204);
    assert_int_equal(power_of(azure, "pool000001"), POWER_RUNNING);
    assert_int_equal(power_of(azure, "pool000002"), POWER_RUNNING);
    expect_refusal(azure, "POST", POOL "/start", "{'instanceIds': ['1', '9']}", 400,
                   "InvalidParameter", "instanceId 9 is not an active");
    azure_free(azure);
}

/* The operation of the whole ends with the last of its instances'. */
static void test_the_slowest_instance_counts(void **state)
{
    struct azure *azure = azure_with_pool();

    (void)state;
    make_disk(azure, "d", 1);
    json_decref(ask_json(azure, "PUT", POOL "/virtualMachines/2",
                         "{'properties': {'storageProfile': {'dataDisks': [{'lun': 0, "
                         "'createOption': 'Attach', 'managedDisk': {'id': '" P "/disks/d'}}]}}}",
                         200));
    /* Instance 2 has an attach of 10 s to go on with. */
    assert_int_equal(act(azure, "POST", POOL "/reapply", NULL, 9000), 202);
    loop_advance(azure->loop, 1000);
    assert_int_equal(vm_find_by_name(azure->model, "pool000002")->provisioning,
                     PROVISIONING_SUCCEEDED);
    azure_free(azure);
}

static void test_instances_are_deleted(void **state)
{
    struct azure *azure = azure_with_pool();

    (void)state;
    assert_int_equal(act(azure, "POST", POOL "/delete", "{'instanceIds': ['2']}", 1000), 204);
    assert_null(vm_find_by_name(azure->model, "pool000002"));
    json_t *json = ask_json(azure, "GET", POOL "/instanceView", NULL, 200);
    const json_t *summary = json_array_get(resource_get(json, "virtualMachine.statusesSummary"), 0);
    expect_text(summary, "code", "ProvisioningState/succeeded");
    assert_int_equal(json_integer_value(json_object_get(summary, "count")), 2);
    json_decref(json);
    azure_free(azure);
}

/* ---- the scale set ---- */

static void test_its_model_changes(void **state)
{
    struct azure *azure = azure_with_pool();
    CLEANUP(http_response_finip) struct http_response response = {0};

    (void)state;
    ask(azure, "PATCH", POOL "?api-version=2025-04-01",
        "{'tags': {'a': '1'}, 'properties': {'singlePlacementGroup': true, "
        "'provisioningState': 'Failed'}}",
        &response);
    assert_int_equal(response.status, 200);
    assert_non_null(strstr(header_of(&response, "Azure-AsyncOperation"), "/operations/"));
    json_t *json = json_loads(response.body, 0, NULL);
    expect_text(json, "properties.provisioningState", "Updating");
    json_decref(json);
    loop_advance(azure->loop, 1000);
    json = ask_json(azure, "GET", POOL "?api-version=2025-04-01", NULL, 200);
    expect_text(json, "properties.provisioningState", "Succeeded");
    expect_text(json, "properties.orchestrationMode", "Uniform");
    expect_text(json, "tags.a", "1");
    assert_true(json_is_true(resource_get(json, "properties.singlePlacementGroup")));
    /* What was read is written back with two instances: the newest goes. */
    json_object_set_new(json_object_get(json, "sku"), "capacity", json_integer(2));
    CLEANUP(freep) char *body = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    json_decref(ask_json(azure, "PUT", POOL, body, 200));
    loop_advance(azure->loop, 1000);
    assert_null(vm_find_by_name(azure->model, "pool000003"));
    assert_non_null(vm_find_by_name(azure->model, "pool000002"));
    expect_refusal(azure, "PATCH", POOL, "{'sku': {'capacity': 3}}", 409, "QuotaExceeded",
                   "Total Regional Cores");
    azure_free(azure);
}

static void test_it_is_deleted_with_its_vms(void **state)
{
    struct azure *azure = azure_with_pool();

    (void)state;
    assert_int_equal(act(azure, "DELETE", POOL, NULL, 1000), 204);
    assert_null(vm_find_by_name(azure->model, "pool000001"));
    json_decref(ask_json(azure, "GET", POOL, NULL, 404));
    assert_int_equal(HASH_COUNT(azure->model->scale_sets), 0);
    assert_non_null(vm_find_by_name(azure->model, "vm1"));
    azure_free(azure);
}

/* A deletion that was under way goes on. */
static void test_it_outlives_a_restart(void **state)
{
    struct azure *azure = azure_with_pool();
    struct loop *loop = loop_new_virtual(2);
    CLEANUP(http_response_finip) struct http_response response = {0};

    (void)state;
    json_decref(ask_json(azure, "PATCH", POOL, "{'tags': {'a': '1'}}", 200));
    loop_advance(azure->loop, 1000);
    ask(azure, "DELETE", POOL, NULL, &response);
    CLEANUP(json_decrefp) json_t *snapshot = records_of_model(azure->model);
    struct model *model = model_new(&(struct model_config){
        .loop = loop, .tenant_id = TENANT, .subscription_id = SUBSCRIPTION, .location = "eastus"});
    model_add_group(model, "rg");
    assert_ok(records_restore(model, snapshot));
    CLEANUP(json_decrefp) json_t *again = records_of_model(model);
    assert_true(json_equal(snapshot, again));
    expect_text(model->scale_sets->body, "tags.a", "1");
    loop_advance(loop, 100 * 1000);
    assert_int_equal(HASH_COUNT(model->scale_sets), 0);
    assert_int_equal(HASH_COUNT(model->vms), 2);
    model_free(model);
    loop_free(loop);
    azure_free(azure);
}

/* ---- what there may be ---- */

static void test_usages(void **state)
{
    static const struct {
        const char *name;
        int used;
    } rows[] = {{"cores", 20},           {"standardDSv5Family", 20},
                {"virtualMachines", 5},  {"virtualMachineScaleSets", 1},
                {"PremiumDiskCount", 1}, {"StandardDiskCount", 0}};
    struct azure *azure = azure_with_pool();
    const char *name;
    size_t i;
    json_t *item;

    (void)state;
    make_disk(azure, "d", 1);
    json_t *json = ask_json(azure, "GET", "{Q}/locations/eastus/usages", NULL, 200);
    json_t *used = json_object();
    json_array_foreach(json_object_get(json, "value"), i, item) {
        name = resource_text(item, "name.value", "");
        json_object_set(used, name, json_object_get(item, "currentValue"));
    }
    for (i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(json_integer_value(json_object_get(used, rows[i].name)), rows[i].used);
    json_decref(used);
    json_decref(json);
    expect_refusal(azure, "GET", "{Q}/locations/mars/usages", NULL, 400,
                   "NoRegisteredProviderFound", "location 'mars'");
    azure_free(azure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_happens_in_a_guest),
        cmocka_unit_test(test_a_generalized_vm_starts_no_more),
        cmocka_unit_test(test_power_of_instances),
        cmocka_unit_test(test_the_slowest_instance_counts),
        cmocka_unit_test(test_instances_are_deleted),
        cmocka_unit_test(test_its_model_changes),
        cmocka_unit_test(test_it_is_deleted_with_its_vms),
        cmocka_unit_test(test_it_outlives_a_restart),
        cmocka_unit_test(test_usages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
