/* What requests cost, and what those are told that cost too much. */
#include "lib/base/alloc.h"
#include "test/azsim/model/resource.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/azure.h"

static struct azure *azure_that_throttles(void)
{
    struct azure *azure = azure_new(NULL);

    assert_ok(throttle_set(azure->model->throttle, "on"));
    return azure;
}

/* ---- to which buckets ---- */

#define EMPTY_DISK                                                                                 \
    "{'location': 'eastus', 'properties': {'creationData': {'createOption': 'Empty'}, "            \
    "'diskSizeGB': 4}}"

static const struct {
    const char *method, *path, *body;
    const char *kind; /* of Resource Manager's buckets */
    int left, global_left;
    const char *resource; /* the header */
} rows[] = {
    {"GET", "{P}/virtualMachines/vm1", NULL, "reads", 249, 3749,
     "Microsoft.Compute/LowCostGetVMResource;35,"
     "Microsoft.Compute/LowCostGetVMSubscriptionMaximum;23999"},
    {"GET", "{P}/virtualMachines/vm1/instanceView", NULL, "reads", 249, 3749,
     "Microsoft.Compute/LowCostGetVMResource;35,"
     "Microsoft.Compute/LowCostGetVMSubscriptionMaximum;23999"},
    {"GET", "{P}/virtualMachines", NULL, "reads", 249, 3749,
     "Microsoft.Compute/HighCostGetVMSubscriptionMaximum;899"},
    {"PATCH", "{P}/virtualMachines/vm1", "{}", "writes", 199, 2999,
     "Microsoft.Compute/UpdateVMResource;11,Microsoft.Compute/UpdateVMSubscriptionMaximum;1499"},
    {"PUT", "{P}/virtualMachines/vm1", "{'location': 'eastus'}", "writes", 199, 2999,
     "Microsoft.Compute/UpdateVMResource;11,Microsoft.Compute/UpdateVMSubscriptionMaximum;1499"},
    {"PUT", "{P}/virtualMachines/new", "{'location': 'eastus'}", "writes", 199, 2999,
     "Microsoft.Compute/PutVMResource;11,Microsoft.Compute/PutVMSubscriptionMaximum;1499"},
    {"POST", "{P}/virtualMachines/vm1/attachDetachDataDisks", "{}", "writes", 199, 2999,
     "Microsoft.Compute/UpdateVMResource;11,Microsoft.Compute/UpdateVMSubscriptionMaximum;1499"},
    {"PUT", "{P}/disks/d", EMPTY_DISK, "writes", 199, 2999,
     "Microsoft.Compute/CreateUpdateDisks3Min;2999,"
     "Microsoft.Compute/CreateUpdateDisks30Min;24999"},
    {"GET", "{P}/disks/d", NULL, "reads", 249, 3749,
     "Microsoft.Compute/LowCostGet3Min;14999,Microsoft.Compute/LowCostGet30Min;119999"},
    {"DELETE", "{P}/disks/d", NULL, "deletes", 199, 2999,
     "Microsoft.Compute/DeleteDisks3Min;999,Microsoft.Compute/DeleteDisks30Min;7999"},
    {"GET", "{Q}/skus", NULL, "reads", 249, 3749, ""},
};

static void expect_left(const struct http_response *response, const char *form, const char *kind,
                        int left)
{
    CLEANUP(freep)
    char *name = mem_printf("x-ms-ratelimit-remaining-subscription-%s%s", form, kind);
    CLEANUP(freep) char *number = mem_printf("%d", left);

    assert_string_equal(header_of(response, name), number);
}

static void test_what_is_charged_to_which_buckets(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct azure *azure = azure_that_throttles();
        CLEANUP(http_response_finip) struct http_response response = {0};

        ask(azure, rows[i].method, rows[i].path, rows[i].body, &response);
        expect_left(&response, "", rows[i].kind, rows[i].left);
        expect_left(&response, "global-", rows[i].kind, rows[i].global_left);
        assert_string_equal(header_of(&response, "x-ms-ratelimit-remaining-resource"),
                            rows[i].resource);
        azure_free(azure);
    }
}

/* The looks at an operation are its VM's, whatever the operation. */
static void test_polls_are_charged_to_the_vm(void **state)
{
    struct azure *azure = azure_that_throttles();
    CLEANUP(http_response_finip) struct http_response first = {0}, second = {0}, poll = {0};

    (void)state;
    ask(azure, "PATCH", "{P}/virtualMachines/vm1", "{'tags': {'a': '1'}}", &first);
    ask(azure, "PATCH", "{P}/virtualMachines/vm1", "{'tags': {'a': '2'}}", &second);
    ask(azure, "GET", header_of(&first, "Azure-AsyncOperation"), NULL, &poll);
    http_response_fini(&poll);
    ask(azure, "GET", header_of(&second, "Azure-AsyncOperation"), NULL, &poll);
    assert_string_equal(header_of(&poll, "x-ms-ratelimit-remaining-resource"),
                        "Microsoft.Compute/GetOperationResource;43,"
                        "Microsoft.Compute/GetOperationSubscriptionMaximum;14998");
    azure_free(azure);
}

/* ---- 429 ---- */

static int patch(struct azure *azure, const char *vm, struct http_response *ret)
{
    CLEANUP(freep) char *path = mem_printf("{P}/virtualMachines/%s", vm);

    http_response_fini(ret);
    ask(azure, "PATCH", path, "{}", ret);
    return ret->status;
}

static void test_a_vm_takes_twelve_updates_and_then_four_a_minute(void **state)
{
    struct azure *azure = azure_that_throttles();
    CLEANUP(http_response_finip) struct http_response response = {0};

    (void)state;
    for (int i = 0; i < 12; i++)
        assert_int_equal(patch(azure, "vm1", &response), 200);
    loop_advance(azure->loop, 20 * 1000);
    assert_int_equal(patch(azure, "VM1", &response), 429);
    assert_string_equal(header_of(&response, "Retry-After"), "40");
    assert_string_equal(
        header_of(&response, "x-ms-ratelimit-remaining-resource"),
        "Microsoft.Compute/UpdateVMResource;0,Microsoft.Compute/UpdateVMSubscriptionMaximum;1488");
    json_t *json = json_loads(response.body, 0, NULL);
    assert_string_equal(resource_text(json, "code", ""), "OperationNotAllowed");
    assert_null(json_object_get(json, "error"));
    const json_t *detail = json_array_get(json_object_get(json, "details"), 0);
    assert_string_equal(resource_text(detail, "code", ""), "TooManyRequests");
    assert_string_equal(resource_text(detail, "target", ""), "UpdateVMResource");
    assert_string_equal(resource_text(detail, "message", ""),
                        "{\"operationGroup\":\"UpdateVMResource\",\"startTime\":"
                        "\"2026-01-01T00:00:00.0000000+00:00\",\"endTime\":"
                        "\"2026-01-01T00:01:00.0000000+00:00\",\"allowedRequestCount\":12,"
                        "\"measuredRequestCount\":13}");
    json_decref(json);
    assert_int_equal(patch(azure, "vm2", &response), 200);

    loop_advance(azure->loop, 40 * 1000);
    for (int i = 0; i < 4; i++)
        assert_int_equal(patch(azure, "vm1", &response), 200);
    assert_int_equal(patch(azure, "vm1", &response), 429);
    azure_free(azure);
}

/* What Resource Manager refuses costs Compute nothing. */
static void test_a_caller_has_a_burst_and_then_so_many_a_second(void **state)
{
    struct azure *azure = azure_that_throttles();
    CLEANUP(http_response_finip) struct http_response response = {0};

    (void)state;
    for (int i = 0; i < 250; i++) {
        http_response_fini(&response);
        ask(azure, "GET", "{P}/disks/none", NULL, &response);
        assert_int_equal(response.status, 404);
    }
    http_response_fini(&response);
    ask(azure, "GET", "{P}/disks/none", NULL, &response);
    assert_int_equal(response.status, 429);
    assert_string_equal(header_of(&response, "Retry-After"), "1");
    expect_left(&response, "", "reads", 0);
    expect_left(&response, "global-", "reads", 3500);
    assert_string_equal(header_of(&response, "x-ms-ratelimit-remaining-resource"), "");
    json_t *json = json_loads(response.body, 0, NULL);
    assert_string_equal(resource_text(json, "error.code", ""), "SubscriptionRequestsThrottled");
    assert_string_equal(resource_text(json, "error.message", ""),
                        "Number of requests for subscription '" SUBSCRIPTION
                        "' and operation 'disks.get' exceeded the backend storage limit. Please "
                        "try again after '1' seconds.");
    json_decref(json);

    loop_advance(azure->loop, 1000);
    for (int i = 0; i < 26; i++) {
        http_response_fini(&response);
        ask(azure, "GET", "{P}/disks/none", NULL, &response);
        assert_int_equal(response.status, i < 25 ? 404 : 429);
    }
    azure_free(azure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_charged_to_which_buckets),
        cmocka_unit_test(test_polls_are_charged_to_the_vm),
        cmocka_unit_test(test_a_vm_takes_twelve_updates_and_then_four_a_minute),
        cmocka_unit_test(test_a_caller_has_a_burst_and_then_so_many_a_second),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
