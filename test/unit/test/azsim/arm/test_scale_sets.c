/* Scale sets and their VMs, uniform and flexible, as clients of ARM see them. */
#include "lib/base/alloc.h"
#include "test/azsim/model/resource.h"
#include "test/azsim/model/vm.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/azure.h"

#define P "/subscriptions/" SUBSCRIPTION "/resourceGroups/rg/providers/Microsoft.Compute"
#define DISK(name) P "/disks/" name
#define POOL "{P}/virtualMachineScaleSets/pool"
#define INSTANCE POOL "/virtualMachines/11"
#define ATTACH(name) "{'dataDisksToAttach': [{'diskId': '" DISK(name) "'}]}"
#define LIST(entries) "{'properties': {'storageProfile': {'dataDisks': [" entries "]}}}"

static void expect_text(const json_t *json, const char *path, const char *expected)
{
    if (strcmp(resource_text(json, path, "(nothing)"), expected) != 0)
        fail_msg("%s is %s, not %s", path, resource_text(json, path, "(nothing)"), expected);
}

static void expect_names(const json_t *page, const char *expected)
{
    CLEANUP(freep) char *names = mem_strdup("");
    size_t i;
    json_t *item;

    json_array_foreach(json_object_get(page, "value"), i, item) {
        char *longer = mem_printf("%s%s ", names, resource_text(item, "name", ""));
        free(names);
        names = longer;
    }
    assert_string_equal(names, expected);
}

static struct err *add(struct azure *azure, const char *name, const char *set, const char *instance)
{
    CLEANUP(vm_spec_finip)
    struct vm_spec spec = {.name = mem_strdup(name),
                           .size = vm_size_find("Standard_D4s_v5"),
                           .zone = mem_strdup("1"),
                           .scale_set = mem_strdup(set),
                           .instance_id = mem_strdup(instance)};
    struct vm *vm;

    return vm_add(azure->model, azure->model->groups[0], &spec, &vm);
}

/* A uniform "pool" with instances 11 and 12, a flexible "flex" with one VM. */
static struct azure *azure_with_scale_sets(const struct arm_config *settings)
{
    struct azure *azure = azure_new(settings);

    assert_ok(add(azure, "pool00000b", "pool", "11"));
    assert_ok(add(azure, "pool00000c", "pool", "12"));
    assert_ok(add(azure, "flex_1a2b", "flex", NULL));
    return azure;
}

static void expect_refusal(struct azure *azure, const char *method, const char *path,
                           const char *body, int status, const char *code, const char *target)
{
    json_t *json = ask_json(azure, method, path, body, status);

    expect_text(json, "error.code", code);
    expect_text(json, "error.target", target);
    json_decref(json);
}

static void test_shapes(void **state)
{
    struct azure *azure = azure_with_scale_sets(NULL);
    CLEANUP(http_response_finip) struct http_response response = {0};

    (void)state;
    ask(azure, "GET", POOL, NULL, &response);
    assert_string_equal(header_of(&response, "ETag"), "\"3\"");
    json_t *json = json_loads(response.body, 0, NULL);
    expect_text(json, "type", "Microsoft.Compute/virtualMachineScaleSets");
    expect_text(json, "etag", "\"3\"");
    expect_text(json, "sku.name", "Standard_D4s_v5");
    expect_text(json, "properties.orchestrationMode", "Uniform");
    assert_int_equal(json_integer_value(resource_get(json, "sku.capacity")), 2);
    expect_text(json, "properties.provisioningState", "Succeeded");
    json_decref(json);
    json = ask_json(azure, "GET", "{P}/virtualMachineScaleSets/flex", NULL, 200);
    expect_text(json, "properties.orchestrationMode", "Flexible");
    json_decref(json);

    json =
        ask_json(azure, "GET", INSTANCE "?$expand=instanceView&api-version=2025-04-01", NULL, 200);
    expect_text(json, "name", "pool_11");
    expect_text(json, "id", P "/virtualMachineScaleSets/pool/virtualMachines/11");
    expect_text(json, "type", "Microsoft.Compute/virtualMachineScaleSets/virtualMachines");
    expect_text(json, "instanceId", "11");
    expect_text(json, "sku.name", "Standard_D4s_v5");
    expect_text(json, "properties.osProfile.computerName", "pool00000b");
    expect_text(json, "properties.instanceView.computerName", "pool00000b");
    json_decref(json);
    json = ask_json(azure, "GET", INSTANCE "/instanceView", NULL, 200);
    assert_int_equal(json_array_size(json_object_get(json, "statuses")), 2);
    json_decref(json);
    json = ask_json(azure, "GET", "{P}/virtualMachines/flex_1a2b", NULL, 200);
    expect_text(json, "properties.virtualMachineScaleSet.id", P "/virtualMachineScaleSets/flex");
    json_decref(json);
    azure_free(azure);
}

/* A VM whose host has another name than its resource. */
static struct err *add_named(struct azure *azure, struct group *group, const char *name,
                             const char *resource_name)
{
    CLEANUP(vm_spec_finip)
    struct vm_spec spec = {.name = mem_strdup(name),
                           .resource_name = mem_strdup(resource_name),
                           .size = vm_size_find("Standard_D4s_v5"),
                           .zone = mem_strdup("1"),
                           .scale_set = mem_strdup("flex")};
    struct vm *vm;

    return vm_add(azure->model, group, &spec, &vm);
}

static void test_a_host_and_its_resource_may_differ_in_name(void **state)
{
    static const char host[] = "aks-pool-12345678-vmss000001";
    struct azure *azure = azure_new(NULL);

    (void)state;
    assert_ok(add_named(azure, azure->model->groups[0], host, "Pool_1a2b3c4d"));
    json_t *json = ask_json(azure, "GET", "{P}/virtualMachines/pool_1A2B3c4d", NULL, 200);
    expect_text(json, "name", "Pool_1a2b3c4d");
    expect_text(json, "id", P "/virtualMachines/Pool_1a2b3c4d");
    expect_text(json, "properties.osProfile.computerName", host);
    json_decref(json);
    json = ask_json(azure, "GET", "{P}/virtualMachines/Pool_1a2b3c4d/instanceView", NULL, 200);
    expect_text(json, "computerName", host);
    json_decref(json);
    json_decref(
        ask_json(azure, "GET", "{P}/virtualMachines/aks-pool-12345678-vmss000001", NULL, 404));
    assert_string_equal(vm_find_by_name(azure->model, host)->name, "Pool_1a2b3c4d");

    azure_move(azure, host);
    azure->extra[0] = (struct http_header){"Metadata", "true"};
    json = ask_json(azure, "GET", "http://169.254.169.254/metadata/instance?api-version=2021-10-01",
                    NULL, 200);
    expect_text(json, "compute.name", "Pool_1a2b3c4d");
    expect_text(json, "compute.osProfile.computerName", host);
    expect_text(json, "compute.resourceId", P "/virtualMachines/Pool_1a2b3c4d");
    expect_text(json, "compute.vmScaleSetName", "flex");
    json_decref(json);
    azure_free(azure);
}

/* Host names in all of Azure, resource names in a group. */
static void test_names_are_unique(void **state)
{
    struct azure *azure = azure_new(NULL);
    struct group *group = azure->model->groups[0];

    (void)state;
    assert_ok(add_named(azure, group, "host1", "flex_1"));
    assert_fails(add_named(azure, group, "HOST1", "flex_2"), ERR_EXISTS,
                 "there is a VM \"HOST1\" already");
    assert_fails(add_named(azure, group, "host2", "Flex_1"), ERR_EXISTS,
                 "resource group \"rg\" has a VM with the resource name \"Flex_1\" already");
    assert_fails(add_named(azure, group, "host2", "vm1"), ERR_EXISTS,
                 "resource group \"rg\" has a VM with the resource name \"vm1\" already");
    assert_fails(add(azure, "flex_1", NULL, NULL), ERR_EXISTS,
                 "resource group \"rg\" has a VM with the resource name \"flex_1\" already");
    assert_ok(add_named(azure, model_add_group(azure->model, "other"), "host2", "flex_1"));
    azure_free(azure);
}

static void test_lists(void **state)
{
    static const struct {
        const char *path, *names;
    } rows[] = {
        {"{P}/virtualMachineScaleSets", "pool flex "},
        {"{Q}/virtualMachineScaleSets", "pool flex "},
        {POOL "/virtualMachines", "pool_11 pool_12 "},
        {"{P}/virtualMachineScaleSets/FLEX/virtualmachines", "flex_1a2b "},
        /* Instances are not among the VMs. */
        {"{P}/virtualMachines", "vm1 vm2 flex_1a2b "},
        {"{Q}/virtualMachines?api-version=2025-04-01&$filter='virtualMachineScaleSet/id' eq "
         "'" P "/VirtualMachineScaleSets/Flex'",
         "flex_1a2b "},
        {"{Q}/virtualMachines?api-version=2025-04-01&$filter='virtualMachineScaleSet/id' eq "
         "'" P "/virtualMachineScaleSets/none'",
         ""},
    };
    struct azure *azure = azure_with_scale_sets(NULL);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        json_t *json = ask_json(azure, "GET", rows[i].path, NULL, 200);
        expect_names(json, rows[i].names);
        json_decref(json);
    }
    azure->model->settings.page_size = 1;
    json_t *json = ask_json(azure, "GET", POOL "/virtualMachines", NULL, 200);
    expect_names(json, "pool_11 ");
    CLEANUP(freep) char *next = mem_strdup(resource_text(json, "nextLink", ""));
    json_decref(json);
    json = ask_json(azure, "GET", next, NULL, 200);
    expect_names(json, "pool_12 ");
    assert_null(json_object_get(json, "nextLink"));
    json_decref(json);
    azure_free(azure);
}

static void test_attach_by_action_and_by_put(void **state)
{
    struct azure *azure = azure_with_scale_sets(NULL);
    CLEANUP(http_response_finip) struct http_response accepted = {0}, changed = {0};

    (void)state;
    make_disk(azure, "a", 2);
    ask(azure, "POST", INSTANCE "/attachDetachDataDisks", ATTACH("a"), &accepted);
    assert_int_equal(accepted.status, 202);
    loop_advance(azure->loop, 10000);
    json_t *json = ask_json(azure, "GET", header_of(&accepted, "Location"), NULL, 200);
    expect_text(json_array_get(json_object_get(json, "dataDisks"), 0), "name", "a");
    assert_null(
        json_object_get(json_array_get(json_object_get(json, "dataDisks"), 0), "deleteOption"));
    json_decref(json);
    json = ask_json(azure, "GET", "{P}/disks/a", NULL, 200);
    expect_text(json, "managedBy", P "/virtualMachineScaleSets/pool/virtualMachines/11");
    json_decref(json);

    ask(azure, "PUT", INSTANCE, LIST(""), &changed);
    assert_int_equal(changed.status, 200);
    assert_string_equal(header_of(&changed, "Location"), "");
    assert_string_not_equal(header_of(&changed, "Azure-AsyncOperation"), "");
    loop_advance(azure->loop, 1000);
    json = ask_json(azure, "GET", "{P}/disks/a", NULL, 200);
    expect_text(json, "properties.diskState", "Unattached");
    json_decref(json);

    azure->extra[0] = (struct http_header){"If-Match", "\"1\""};
    expect_refusal(azure, "PUT", INSTANCE, LIST(""), 412, "PreconditionFailed", "(nothing)");
    azure_free(azure);
}

static void test_what_is_not_there(void **state)
{
    struct azure *azure = azure_with_scale_sets(NULL);

    (void)state;
    expect_refusal(azure, "GET", "{P}/virtualMachineScaleSets/none", NULL, 404, "ResourceNotFound",
                   "(nothing)");
    expect_refusal(azure, "GET", "{P}/virtualMachineScaleSets/none/virtualMachines", NULL, 404,
                   "ResourceNotFound", "(nothing)");
    expect_refusal(azure, "GET", "{P}/virtualMachineScaleSets/none/virtualMachines/1", NULL, 404,
                   "ResourceNotFound", "(nothing)");
    expect_refusal(azure, "PUT", "{P}/virtualMachineScaleSets/none/virtualMachines/1", "{}", 404,
                   "ParentResourceNotFound", "(nothing)");
    expect_refusal(azure, "GET", POOL "/virtualMachines/13", NULL, 400, "InvalidParameter",
                   "instanceIds");
    expect_refusal(azure, "POST", POOL "/virtualMachines/13/attachDetachDataDisks", ATTACH("a"),
                   400, "InvalidParameter", "instanceIds");
    expect_refusal(azure, "GET", POOL "/virtualMachines/pool_11", NULL, 400, "InvalidParameter",
                   "instanceId");
    expect_refusal(azure, "GET", "{P}/virtualMachines/pool_11", NULL, 404, "ResourceNotFound",
                   "(nothing)");
    expect_refusal(azure, "POST",
                   "{P}/virtualMachineScaleSets/flex/virtualMachines/1/attachDetachDataDisks",
                   ATTACH("a"), 409, "OperationNotAllowed", "(nothing)");
    expect_refusal(azure, "POST", INSTANCE "/attachDetachDataDisks?api-version=2023-07-01",
                   ATTACH("a"), 404, "InvalidResourceType", "(nothing)");
    azure_free(azure);
}

static void test_power_and_deletion(void **state)
{
    struct azure *azure = azure_with_scale_sets(NULL);
    CLEANUP(http_response_finip) struct http_response accepted = {0}, again = {0};

    (void)state;
    ask(azure, "POST", INSTANCE "/deallocate", NULL, &accepted);
    assert_int_equal(accepted.status, 202);
    loop_advance(azure->loop, 1000);
    json_t *json = ask_json(azure, "GET", header_of(&accepted, "Azure-AsyncOperation"), NULL, 200);
    expect_text(json, "status", "Succeeded");
    json_decref(json);
    json = ask_json(azure, "GET", INSTANCE "/instanceView", NULL, 200);
    expect_text(json_array_get(json_object_get(json, "statuses"), 1), "code",
                "PowerState/deallocated");
    json_decref(json);

    http_response_fini(&accepted);
    ask(azure, "DELETE", INSTANCE, NULL, &accepted);
    assert_int_equal(accepted.status, 202);
    loop_advance(azure->loop, 1000);
    ask(azure, "DELETE", INSTANCE, NULL, &again);
    assert_int_equal(again.status, 204);
    json = ask_json(azure, "GET", POOL, NULL, 200);
    assert_int_equal(json_integer_value(resource_get(json, "sku.capacity")), 1);
    json_decref(json);
    azure_free(azure);
}

static void test_who_may_join(void **state)
{
    struct azure *azure = azure_with_scale_sets(NULL);

    (void)state;
    assert_fails(add(azure, "x", "pool", "11"), ERR_EXISTS,
                 "scale set \"pool\" has an instance 11 already");
    assert_fails(add(azure, "x", "pool", NULL), ERR_INVALID,
                 "scale set \"pool\" is uniform: its VMs have an instanceId, and \"x\" does not "
                 "have one");
    assert_fails(
        add(azure, "x", "flex", "1"), ERR_INVALID,
        "scale set \"flex\" is flexible: its VMs do not have an instanceId, and \"x\" has");
    assert_fails(add(azure, "POOL00000B", "pool", "13"), ERR_EXISTS,
                 "there is a VM \"POOL00000B\" already");
    azure_free(azure);
}

/* ---- what a VM is told of it ---- */

static void expect_metadata(struct azure *azure, const char *vm, const char *path,
                            const char *expected)
{
    CLEANUP(freep)
    char *url = mem_printf("http://169.254.169.254/metadata/instance?api-version=2021-10-01");

    azure_move(azure, vm);
    azure->extra[0] = (struct http_header){"Metadata", "true"};
    json_t *json = ask_json(azure, "GET", url, NULL, 200);
    expect_text(json, path, expected);
    json_decref(json);
}

static void test_metadata(void **state)
{
    static const struct {
        const char *vm, *path, *value;
    } rows[] = {
        {"pool00000b", "compute.name", "pool_11"},
        {"pool00000b", "compute.vmScaleSetName", "pool"},
        {"pool00000b", "compute.virtualMachineScaleSet.id", ""},
        {"pool00000b", "compute.osProfile.computerName", "pool00000b"},
        {"pool00000b", "compute.resourceId", P "/virtualMachineScaleSets/pool/virtualMachines/11"},
        {"flex_1a2b", "compute.name", "flex_1a2b"},
        {"flex_1a2b", "compute.vmScaleSetName", "flex"},
        {"flex_1a2b", "compute.virtualMachineScaleSet.id", P "/virtualMachineScaleSets/flex"},
    };
    struct azure *azure = azure_with_scale_sets(NULL);

    (void)state;
    free(TAKE_PTR(azure->token));
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        expect_metadata(azure, rows[i].vm, rows[i].path, rows[i].value);
    azure_free(azure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_a_host_and_its_resource_may_differ_in_name),
        cmocka_unit_test(test_names_are_unique),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_attach_by_action_and_by_put),
        cmocka_unit_test(test_what_is_not_there),
        cmocka_unit_test(test_power_and_deletion),
        cmocka_unit_test(test_who_may_join),
        cmocka_unit_test(test_metadata),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
