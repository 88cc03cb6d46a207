/* Two subscriptions, each with a group "rg": what is in one is not in the other. */
#include "lib/base/alloc.h"
#include "test/azsim/model/record.h"
#include "test/azsim/model/resource.h"
#include "test/azsim/model/vm.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/azure.h"

#define SECOND "aaaaaaaa-2222-3333-4444-55555555555f"
#define UNKNOWN "bbbbbbbb-2222-3333-4444-555555555555"
#define RG(subscription)                                                                           \
    "/subscriptions/" subscription "/resourceGroups/rg/providers/Microsoft.Compute"
#define ALL(subscription) "/subscriptions/" subscription "/providers/Microsoft.Compute"
#define FIRST_RG RG(SUBSCRIPTION)
#define SECOND_RG RG(SECOND)
#define DISK                                                                                       \
    "{'location': 'eastus', 'zones': ['1'], 'sku': {'name': 'Premium_LRS'}, 'properties': "        \
    "{'creationData': {'createOption': 'Empty'}, 'diskSizeGB': 10}}"

/* With vm1 and vm2 in the first subscription, and "second" in scale set "pool" of the other. */
static struct azure *azure_with_two(void)
{
    struct azure *azure = azure_new(NULL);
    struct group *group =
        model_add_group_to(azure->model, model_add_subscription(azure->model, SECOND), "rg");
    struct vm_spec spec = {.name = mem_strdup("second"),
                           .size = vm_size_find("Standard_D4s_v5"),
                           .zone = mem_strdup("1"),
                           .scale_set = mem_strdup("pool"),
                           .instance_id = mem_strdup("0"),
                           .identity = true};
    struct vm *vm;

    assert_ok(vm_add(azure->model, group, &spec, &vm));
    return azure;
}

static void put_disk(struct azure *azure, const char *path)
{
    json_decref(ask_json(azure, "PUT", path, DISK, 202));
    loop_advance(azure->loop, 1000);
}

static void expect_text(const json_t *json, const char *path, const char *text)
{
    assert_string_equal(resource_text(json, path, ""), text);
}

/* The only item of a list. */
static void expect_one(struct azure *azure, const char *path, const char *id)
{
    CLEANUP(json_decrefp) json_t *json = ask_json(azure, "GET", path, NULL, 200);
    const json_t *items = json_object_get(json, "value");

    if (json_array_size(items) != 1)
        fail_msg("%s: %zu items", path, json_array_size(items));
    expect_text(json_array_get(items, 0), "id", id);
}

static void test_names_are_of_a_subscription(void **state)
{
    struct azure *azure = azure_with_two();

    (void)state;
    put_disk(azure, FIRST_RG "/disks/d");
    json_decref(ask_json(azure, "GET", SECOND_RG "/disks/d", NULL, 404));
    put_disk(azure, SECOND_RG "/disks/d");
    assert_int_equal(HASH_COUNT(azure->model->disks), 2);
    expect_one(azure, FIRST_RG "/disks", FIRST_RG "/disks/d");
    expect_one(azure, SECOND_RG "/disks", SECOND_RG "/disks/d");
    expect_one(azure, ALL(SECOND) "/disks", SECOND_RG "/disks/d");
    expect_one(azure, ALL(SECOND) "/virtualMachineScaleSets",
               SECOND_RG "/virtualMachineScaleSets/pool");
    expect_one(azure, SECOND_RG "/virtualMachineScaleSets/pool/virtualMachines",
               SECOND_RG "/virtualMachineScaleSets/pool/virtualMachines/0");
    expect_one(azure, "/subscriptions/" SECOND "/resourcegroups",
               "/subscriptions/" SECOND "/resourceGroups/rg");
    json_decref(ask_json(azure, "GET", ALL(SECOND) "/skus", NULL, 200));
    json_t *json = ask_json(azure, "GET", "/subscriptions/" SECOND "/locations", NULL, 200);
    const json_t *locations = json_object_get(json, "value");
    assert_int_equal(json_array_size(locations), 4);
    expect_text(json_array_get(locations, 0), "id", "/subscriptions/" SECOND "/locations/eastus");
    expect_text(json_array_get(locations, 0), "displayName", "East US");
    expect_text(json_array_get(locations, 3), "name", "westus");
    json_decref(json);
    json = ask_json(azure, "GET", "/subscriptions/" SECOND, NULL, 200);
    expect_text(json, "id", "/subscriptions/" SECOND);
    json_decref(json);
    json = ask_json(azure, "GET", ALL(SECOND) "/virtualMachines", NULL, 200);
    assert_int_equal(json_array_size(json_object_get(json, "value")), 0); /* it is an instance */
    json_decref(json);
    json_decref(ask_json(azure, "GET", SECOND_RG "/virtualMachines/vm1", NULL, 404));
    azure_free(azure);
}

static void test_snapshots_are_of_a_subscription(void **state)
{
    static const char body[] =
        "{'location': 'eastus', 'properties': {'incremental': %s, 'creationData': "
        "{'createOption': 'Copy', 'sourceResourceId': '" FIRST_RG "/disks/d'}}}";
    struct azure *azure = azure_with_two();
    CLEANUP(freep) char *full = mem_printf(body, "false");
    CLEANUP(freep) char *incremental = mem_printf(body, "true");

    (void)state;
    put_disk(azure, FIRST_RG "/disks/d");
    json_decref(ask_json(azure, "PUT", SECOND_RG "/snapshots/s", full, 202));
    loop_advance(azure->loop, 1000);
    expect_one(azure, ALL(SECOND) "/snapshots", SECOND_RG "/snapshots/s");
    json_t *json = ask_json(azure, "PUT", SECOND_RG "/snapshots/t", incremental, 400);
    expect_text(json, "error.code", "BadRequest");
    json_decref(json);
    json_decref(ask_json(azure, "PUT", FIRST_RG "/snapshots/t", incremental, 202));
    azure_free(azure);
}

static void test_unknown_ones_are_refused(void **state)
{
    static const char *const paths[] = {RG(UNKNOWN) "/disks/d", ALL(UNKNOWN) "/skus",
                                        ("/subscriptions/" UNKNOWN)};
    struct azure *azure = azure_with_two();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        json_t *json = ask_json(azure, "GET", paths[i], NULL, 404);

        expect_text(json, "error.code", "SubscriptionNotFound");
        expect_text(json, "error.message", "The subscription '" UNKNOWN "' could not be found.");
        json_decref(json);
    }
    azure_free(azure);
}

/* The operation's URL is in the subscription of the request, and good only there. */
static void test_operations_are_of_a_subscription(void **state)
{
    struct azure *azure = azure_with_two();
    CLEANUP(http_response_finip) struct http_response response = {0};

    (void)state;
    ask(azure, "PUT", SECOND_RG "/disks/d", DISK, &response);
    const char *url = header_of(&response, "Azure-AsyncOperation");
    assert_non_null(strstr(url, "/subscriptions/" SECOND "/providers/Microsoft.Compute/"));
    json_decref(ask_json(azure, "GET", url, NULL, 200));
    CLEANUP(freep) char *elsewhere = mem_strdup(url);
    memcpy(strstr(elsewhere, SECOND), SUBSCRIPTION, strlen(SUBSCRIPTION));
    json_decref(ask_json(azure, "GET", elsewhere, NULL, 404));
    azure_free(azure);
}

static void test_a_vm_takes_disks_of_its_own_subscription(void **state)
{
    static const char instance[] =
        SECOND_RG "/virtualMachineScaleSets/pool/virtualMachines/0/attachDetachDataDisks";
    struct azure *azure = azure_with_two();
    CLEANUP(http_response_finip) struct http_response response = {0};

    (void)state;
    put_disk(azure, FIRST_RG "/disks/d");
    put_disk(azure, SECOND_RG "/disks/d");
    json_t *json = ask_json(azure, "POST", instance,
                            "{'dataDisksToAttach': [{'diskId': '" FIRST_RG "/disks/d'}]}", 400);
    expect_text(json, "error.code", "InvalidParameter");
    expect_text(json, "error.message",
                "Subscription " SECOND " of the request must match the subscription " SUBSCRIPTION
                " contained in the managed disk id.");
    json_decref(json);
    ask(azure, "POST", instance, "{'dataDisksToAttach': [{'diskId': '" SECOND_RG "/disks/d'}]}",
        &response);
    assert_int_equal(response.status, 202);
    loop_advance(azure->loop, 10 * 1000);
    json = ask_json(azure, "GET", SECOND_RG "/disks/d", NULL, 200);
    expect_text(json, "managedBy", SECOND_RG "/virtualMachineScaleSets/pool/virtualMachines/0");
    json_decref(json);
    json = ask_json(azure, "GET", FIRST_RG "/disks/d", NULL, 200);
    expect_text(json, "properties.diskState", "Unattached");
    json_decref(json);
    azure_free(azure);
}

static void test_metadata_names_the_subscription_of_the_vm(void **state)
{
    struct azure *azure = azure_with_two();

    (void)state;
    azure_move(azure, "second");
    azure->extra[0] = (struct http_header){"Metadata", "true"};
    json_t *json = ask_json(
        azure, "GET", "http://169.254.169.254/metadata/instance?api-version=2021-10-01", NULL, 200);
    expect_text(json, "compute.subscriptionId", SECOND);
    expect_text(json, "compute.resourceId",
                SECOND_RG "/virtualMachineScaleSets/pool/virtualMachines/0");
    json_decref(json);
    azure_free(azure);
}

/* Both Resource Manager's buckets and Compute's. */
static void test_buckets_are_of_a_subscription(void **state)
{
    struct azure *azure = azure_with_two();
    CLEANUP(http_response_finip) struct http_response response = {0};
    int n = 0;

    (void)state;
    assert_ok(throttle_set(azure->model->throttle, "on"));
    do {
        http_response_fini(&response);
        ask(azure, "GET", FIRST_RG "/disks", NULL, &response);
    } while (response.status == 200 && ++n);
    assert_int_equal(n, 250);
    assert_int_equal(response.status, 429);
    assert_non_null(strstr(response.body, "'" SUBSCRIPTION "'"));
    http_response_fini(&response);
    ask(azure, "GET", SECOND_RG "/disks", NULL, &response);
    assert_int_equal(response.status, 200);
    assert_string_equal(header_of(&response, "x-ms-ratelimit-remaining-subscription-reads"), "249");
    assert_string_equal(header_of(&response, "x-ms-ratelimit-remaining-subscription-global-reads"),
                        "3749");
    assert_string_equal(header_of(&response, "x-ms-ratelimit-remaining-resource"),
                        "Microsoft.Compute/LowCostGet3Min;14999,"
                        "Microsoft.Compute/LowCostGet30Min;119999");
    azure_free(azure);
}

/* ---- after a restart ---- */

static struct model *new_model(struct loop *loop, bool with_second)
{
    struct model *copy = model_new(&(struct model_config){
        .loop = loop, .tenant_id = TENANT, .subscription_id = SUBSCRIPTION, .location = "eastus"});

    model_add_group(copy, "rg");
    if (with_second)
        model_add_group_to(copy, model_add_subscription(copy, SECOND), "rg");
    return copy;
}

static void test_they_outlive_a_restart(void **state)
{
    struct azure *azure = azure_with_two();
    struct loop *loop = loop_new_virtual(2);
    CLEANUP(json_decrefp) json_t *before = NULL, *after = NULL;

    (void)state;
    put_disk(azure, FIRST_RG "/disks/d");
    put_disk(azure, SECOND_RG "/disks/d");
    before = records_of_model(azure->model);
    struct model *copy = new_model(loop, true);
    assert_ok(records_restore(copy, before));
    after = records_of_model(copy);
    assert_true(json_equal(before, after));
    assert_string_equal(vm_find_by_name(copy, "second")->id,
                        SECOND_RG "/virtualMachineScaleSets/pool/virtualMachines/0");
    model_free(copy);

    copy = new_model(loop, false);
    assert_fails(records_restore(copy, before), ERR_INVALID,
                 "/subscriptions/" SECOND "/resourcegroups/rg/providers/microsoft.compute/disks/d "
                 "is in resource group \"rg\" of subscription " SECOND ", which is not configured");
    model_free(copy);
    loop_free(loop);
    azure_free(azure);
}

/* Records of a time when there was one subscription. */
static void test_records_without_a_subscription_are_of_the_first(void **state)
{
    struct azure *azure = azure_new(NULL);
    struct loop *loop = loop_new_virtual(2);
    const char *table, *key;
    json_t *records, *record;

    (void)state;
    put_disk(azure, FIRST_RG "/disks/d");
    CLEANUP(json_decrefp) json_t *snapshot = records_of_model(azure->model);
    json_object_foreach(snapshot, table, records)
        json_object_foreach(records, key, record)
            json_object_del(record, "subscription");
    struct model *copy = new_model(loop, true);
    assert_ok(records_restore(copy, snapshot));
    assert_non_null(disk_find(copy, "/subscriptions/" SUBSCRIPTION
                                    "/resourcegroups/rg/providers/microsoft.compute/disks/d"));
    model_free(copy);
    loop_free(loop);
    azure_free(azure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_of_a_subscription),
        cmocka_unit_test(test_snapshots_are_of_a_subscription),
        cmocka_unit_test(test_unknown_ones_are_refused),
        cmocka_unit_test(test_operations_are_of_a_subscription),
        cmocka_unit_test(test_a_vm_takes_disks_of_its_own_subscription),
        cmocka_unit_test(test_metadata_names_the_subscription_of_the_vm),
        cmocka_unit_test(test_buckets_are_of_a_subscription),
        cmocka_unit_test(test_they_outlive_a_restart),
        cmocka_unit_test(test_records_without_a_subscription_are_of_the_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
