/* Requests by the names that the Azure cloud provider's metrics have. */
#include "provisioner-lib/azure/upstream_requests.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/unit/provisioner-lib/azure/scripted_arm.h"

#define SCALE_SET RESOURCES "virtualMachineScaleSets/set/virtualMachines/"

static struct metric *const metrics[] = {&METRIC_UPSTREAM_REQUEST_SECONDS,
                                         &METRIC_UPSTREAM_REQUEST_ERRORS,
                                         &METRIC_UPSTREAM_REQUESTS_THROTTLED};

static const struct {
    struct arm_request request;
    const char *name; /* NULL: it is none of theirs */
} rows[] = {
    {{.kind = ARM_DISK_READ, .path = RESOURCES "disks/d"}, "disks_get"},
    {{.kind = ARM_DISK_READ, .path = RESOURCES "Disks/d?x=/y"}, "disks_get"},
    {{.kind = ARM_DISK_READ, .path = RESOURCES "disks"}, NULL},
    {{.kind = ARM_DISK_READ, .path = RESOURCES "disks?skip=/disks/d"}, NULL},
    {{.kind = ARM_DISK_WRITE, .method = "PUT", .path = RESOURCES "disks/d"},
     "disks_create_or_update"},
    {{.kind = ARM_DISK_WRITE, .method = "PATCH", .path = RESOURCES "disks/d"}, "disks_update"},
    {{.kind = ARM_DISK_DELETE, .method = "DELETE", .path = RESOURCES "disks/d"}, "disks_delete"},
    {{.kind = ARM_DISK_READ, .path = RESOURCES "snapshots/d"}, "snapshot_get"},
    {{.kind = ARM_DISK_READ, .path = RESOURCES "snapshots"}, NULL},
    {{.kind = ARM_DISK_WRITE, .method = "PUT", .path = RESOURCES "snapshots/disks"},
     "snapshot_create_or_update"},
    {{.kind = ARM_DISK_WRITE, .method = "PATCH", .path = RESOURCES "snapshots/s"}, NULL},
    {{.kind = ARM_DISK_DELETE, .method = "DELETE", .path = RESOURCES "snapshots/s"},
     "snapshot_delete"},
    {{.kind = ARM_VM_READ, .path = RESOURCES "virtualMachines/v?$expand=instanceView"}, "vm_get"},
    {{.kind = ARM_VM_UPDATE, .method = "PATCH", .path = RESOURCES "virtualMachines/v"},
     "vm_update"},
    {{.kind = ARM_VM_UPDATE, .method = "POST", .path = RESOURCES "virtualMachines/v/attach"},
     "vm_update"},
    {{.kind = ARM_INSTANCE_READ, .path = SCALE_SET "0"}, "vmssvm_get"},
    {{.kind = ARM_INSTANCE_UPDATE, .method = "PUT", .path = SCALE_SET "0"}, "vmssvm_update"},
    {{.kind = ARM_SKU_READ, .path = "/subscriptions/s/providers/Microsoft.Compute/skus"}, NULL},
};

static void test_they_have_their_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct upstream_request found = upstream_request_of(&rows[i].request, 7);

        if (!found.name != !rows[i].name || (found.name && strcmp(found.name, rows[i].name) != 0))
            fail_msg("%s: %s", rows[i].request.path, found.name);
        if (found.name) {
            assert_string_equal(found.subscription, "s");
            assert_string_equal(found.resource_group, "rg");
            assert_int_equal(found.began, 7);
        }
        upstream_request_fini(&found);
    }
}

static void assert_written(const char *line)
{
    struct buffer out;

    buffer_init(&out, 1024 * 1024);
    metrics_write(metrics, COUNT_OF(metrics), &out);
    CLEANUP(freep) char *text = buffer_take(&out);
    if (!strstr(text, line))
        fail_msg("%s is not in\n%s", line, text);
}

#define LABELS(name) "{request=\"" name "\",resource_group=\"rg\",subscription_id=\"s\",source=\"\""
#define SECONDS "cloudprovider_azure_api_request_duration_seconds"
#define ERRORS "cloudprovider_azure_api_request_errors"
#define THROTTLED "cloudprovider_azure_api_request_throttled_count"

static void test_a_request_lasts_as_long_as_its_operation(void **state)
{
    static const struct line script[] = {
        {AUTHORITY},
        {"disks/d", 0, 202, {"Azure-AsyncOperation", HOME "/subscriptions/s/operations/1"}, NULL},
        {"operations/1", 1, 200, {NULL}, "{\"status\": \"InProgress\"}"},
        {"operations/1", 0, 200, {NULL}, "{\"status\": \"Succeeded\"}"},
        {0}};
    struct scripted_arm *scripted = scripted_arm_new("", script);
    struct asking asking = {
        .request = {.kind = ARM_DISK_WRITE,
                    .method = "PUT",
                    .path = "/subscriptions/s/resourceGroups/RG/providers/x/disks/d"}};

    (void)state;
    asking_begin(scripted, &asking);
    assert_ok(asking_end(&asking, 60 * 1000));
    assert_written(SECONDS "_count" LABELS("disks_create_or_update") "} 1\n");
    assert_written(SECONDS "_bucket" LABELS("disks_create_or_update") ",le=\"1\"} 0\n");
    assert_written(SECONDS "_bucket" LABELS("disks_create_or_update") ",le=\"5\"} 1\n");
    assert_written("TYPE " ERRORS " counter\n# HELP "); /* none */
    scripted_arm_free(scripted);
    metrics_clear(metrics, COUNT_OF(metrics));
}

static const struct {
    int status;
    const char *body;
    const char *code;
    bool throttled;
} failures[] = {
    {409, "{\"error\": {\"code\": \"AttachDiskWhileBeingDetached\"}}",
     "AttachDiskWhileBeingDetached", false},
    {429, "{\"error\": {\"code\": \"OperationNotAllowed\"}}", "OperationNotAllowed", true},
};

static void test_failures_have_azures_code(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(failures); i++) {
        const struct line script[] = {
            {AUTHORITY}, {"disks/d", 0, failures[i].status, {NULL}, failures[i].body}, {0}};
        struct scripted_arm *scripted = scripted_arm_new("", script);
        struct asking asking = {.request = {.kind = ARM_DISK_READ, .path = RESOURCES "disks/d"}};
        CLEANUP(freep)
        char *line = mem_printf(ERRORS LABELS("disks_get") ",code=\"%s\"} 1\n", failures[i].code);

        asking_begin(scripted, &asking);
        CLEANUP(err_freep) struct err *err = asking_end(&asking, 60 * 1000);
        assert_non_null(err);
        assert_written(line);
        assert_written(SECONDS "_count" LABELS("disks_get") "} 1\n");
        assert_written(failures[i].throttled ? THROTTLED LABELS("disks_get") "} 1\n"
                                             : "TYPE " THROTTLED " counter\n");
        scripted_arm_free(scripted);
        metrics_clear(metrics, COUNT_OF(metrics));
    }
}

static void test_what_is_canceled_has_not_ended(void **state)
{
    struct upstream_request request = upstream_request_of(
        &(struct arm_request){.kind = ARM_DISK_READ, .path = RESOURCES "disks/d"}, 0);
    CLEANUP(err_freep) struct err *err = err_new(ERR_CANCELED, "over");

    (void)state;
    upstream_request_count(&request, err, 1000);
    assert_written("TYPE " SECONDS " histogram\n# HELP "); /* none */
    upstream_request_fini(&request);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_they_have_their_names),
        cmocka_unit_test(test_a_request_lasts_as_long_as_its_operation),
        cmocka_unit_test(test_failures_have_azures_code),
        cmocka_unit_test(test_what_is_canceled_has_not_ended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
