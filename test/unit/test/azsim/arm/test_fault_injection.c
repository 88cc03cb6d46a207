/* Faults that strike operations and disks, in virtual time; the others are tested on the wire
 * (test/azsim/test_faults.py). */
#include "lib/base/alloc.h"
#include "test/azsim/model/fault.h"
#include "test/azsim/model/operation.h"
#include "test/azsim/model/resource.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/azure.h"

#define DISK_ID                                                                                    \
    "/subscriptions/" SUBSCRIPTION "/resourceGroups/rg/providers/Microsoft.Compute/disks/"

static unsigned add(struct azure *azure, const char *rule)
{
    const struct fault *fault;
    json_t *json = json_of(rule);

    assert_ok(faults_add(azure->model->faults, json, &fault));
    json_decref(json);
    return fault->id;
}

/* An azure with disks a and b, and a rule. */
static struct azure *azure_with(const char *rule)
{
    struct azure *azure = azure_new(NULL);

    make_disk(azure, "a", 1);
    make_disk(azure, "b", 1);
    add(azure, rule);
    return azure;
}

/* Where to poll; free() it. */
static char *change(struct azure *azure, const char *body)
{
    CLEANUP(http_response_finip) struct http_response response = {0};

    ask(azure, "POST", "{P}/virtualMachines/vm1/attachDetachDataDisks", body, &response);
    assert_int_equal(response.status, 202);
    return mem_strdup(header_of(&response, "Azure-AsyncOperation"));
}

static char *attach_both(struct azure *azure)
{
    return change(azure, "{'dataDisksToAttach': [{'diskId': '" DISK_ID "a', 'lun': 0}, {'diskId': "
                         "'" DISK_ID "b', 'lun': 1}]}");
}

static char *detach_both(struct azure *azure, const char *option)
{
    CLEANUP(freep)
    char *body = mem_printf("{'dataDisksToDetach': [{'diskId': '%sa'%s}, {'diskId': '%sb'%s}]}",
                            DISK_ID, option, DISK_ID, option);

    return change(azure, body);
}

static void expect(const json_t *json, const char *path, const char *text)
{
    if (strcmp(resource_text(json, path, ""), text) != 0)
        fail_msg("%s is \"%s\", not \"%s\"", path, resource_text(json, path, ""), text);
}

static void expect_operation(struct azure *azure, const char *url, const char *status,
                             const char *code)
{
    json_t *json = ask_json(azure, "GET", url, NULL, 200);

    expect(json, "status", status);
    expect(json, "error.code", code);
    json_decref(json);
}

/* "a b*": what the VM's model lists; a star for what is to be detached. */
static void expect_vm(struct azure *azure, const char *provisioning, const char *disks)
{
    json_t *json = ask_json(azure, "GET", "{P}/virtualMachines/vm1", NULL, 200);
    char listed[64] = "";
    size_t i;
    json_t *entry;

    expect(json, "properties.provisioningState", provisioning);
    json_array_foreach(resource_get(json, "properties.storageProfile.dataDisks"), i, entry)
        snprintf(listed + strlen(listed), sizeof listed - strlen(listed), "%s%s%s", i ? " " : "",
                 resource_text(entry, "name", ""),
                 json_is_true(json_object_get(entry, "toBeDetached")) ? "*" : "");
    assert_string_equal(listed, disks);
    json_decref(json);
}

static void expect_disk(struct azure *azure, const char *name, const char *state)
{
    CLEANUP(freep) char *path = mem_printf("{P}/disks/%s", name);
    json_t *json = ask_json(azure, "GET", path, NULL, 200);

    expect(json, "properties.diskState", state);
    json_decref(json);
}

/* ---- attach ---- */

static const struct {
    const char *rule;
    const char *status, *code; /* of the operation */
    const char *vm, *disks;    /* the VM's model */
    const char *a, *b;         /* the disks' states */
} attaches[] = {
    {"{'fault': 'stall', 'time': '1s', 'kind': 'x'}", "Succeeded", "", "Succeeded", "a b",
     "Attached", "Attached"},
    {"{'fault': 'failOperation', 'code': 'DiskProcessingError'}", "Failed", "DiskProcessingError",
     "Failed", "a b", "Unattached", "Unattached"},
    {"{'fault': 'failOperation', 'code': 'OperationPreempted', 'kind': 'vmAttachDetach', "
     "'resource': 'VM1', 'zone': '1'}",
     "Failed", "OperationPreempted", "Failed", "a b", "Unattached", "Unattached"},
    {"{'fault': 'failOperation', 'code': 'X', 'resource': 'vm2'}", "Succeeded", "", "Succeeded",
     "a b", "Attached", "Attached"},
    {"{'fault': 'cancelOperation'}", "Canceled", "", "Failed", "a b", "Unattached", "Unattached"},
    {"{'fault': 'endFailed'}", "Succeeded", "", "Failed", "a b", "Attached", "Attached"},
    {"{'fault': 'failWhenDone', 'code': 'VMExtensionProvisioningError'}", "Failed",
     "VMExtensionProvisioningError", "Failed", "a b", "Attached", "Attached"},
    {"{'fault': 'failAttach', 'disk': 'a', 'code': 'AcquireDiskLeaseFailed'}", "Failed",
     "AcquireDiskLeaseFailed", "Failed", "a b", "Unattached", "Attached"},
    {"{'fault': 'forgetAttach', 'disk': 'a'}", "Succeeded", "", "Succeeded", "b", "Unattached",
     "Attached"},
    {"{'fault': 'forgetAttach', 'calls': '2'}", "Succeeded", "", "Succeeded", "a", "Attached",
     "Unattached"},
};

static void test_attaches(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(attaches); i++) {
        struct azure *azure = azure_with(attaches[i].rule);
        CLEANUP(freep) char *url = attach_both(azure);

        loop_advance(azure->loop, 10 * 1000);
        expect_operation(azure, url, attaches[i].status, attaches[i].code);
        expect_vm(azure, attaches[i].vm, attaches[i].disks);
        expect_disk(azure, "a", attaches[i].a);
        expect_disk(azure, "b", attaches[i].b);
        azure_free(azure);
    }
}

/* What a fault left undone is done by the next update, as of any failure. */
static void test_the_next_update_tries_again(void **state)
{
    struct azure *azure = azure_with("{'fault': 'failAttach', 'code': 'Conflict', 'calls': '1'}");
    CLEANUP(freep) char *url = attach_both(azure);

    (void)state;
    loop_advance(azure->loop, 10 * 1000);
    expect_vm(azure, "Failed", "a b");
    json_decref(ask_json(azure, "PATCH", "{P}/virtualMachines/vm1", "{}", 200));
    loop_advance(azure->loop, 10 * 1000);
    expect_vm(azure, "Succeeded", "a b");
    expect_disk(azure, "a", "Attached");
    azure_free(azure);
}

/* ---- detach ---- */

static const struct {
    const char *rule, *option;
    const char *status, *code, *vm, *disks, *a;
} detaches[] = {
    {"{'fault': 'failDetach', 'disk': 'a', 'code': 'Conflict'}", "", "Failed", "Conflict", "Failed",
     "a*", "Attached"},
    {"{'fault': 'ignoreDetach', 'disk': 'a'}", "", "Succeeded", "", "Succeeded", "a*", "Attached"},
    {"{'fault': 'ignoreDetach', 'disk': 'a'}", ", 'detachOption': 'ForceDetach'", "Succeeded", "",
     "Succeeded", "", "Unattached"},
    {"{'fault': 'ignoreDetach', 'disk': 'c'}", "", "Succeeded", "", "Succeeded", "", "Unattached"},
    {"{'fault': 'stick', 'calls': '2-'}", ", 'detachOption': 'ForceDetach'", "Succeeded", "",
     "Succeeded", "", "Unattached"},
};

static void test_detaches(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(detaches); i++) {
        struct azure *azure = azure_with(detaches[i].rule);
        CLEANUP(freep) char *attached = attach_both(azure);

        loop_advance(azure->loop, 10 * 1000);
        CLEANUP(freep) char *url = detach_both(azure, detaches[i].option);
        loop_advance(azure->loop, 1000);
        expect_operation(azure, url, detaches[i].status, detaches[i].code);
        expect_vm(azure, detaches[i].vm, detaches[i].disks);
        expect_disk(azure, "a", detaches[i].a);
        expect_disk(azure, "b", "Unattached");
        azure_free(azure);
    }
}

/* It goes when the fault does, with the next update, or by force. */
static void test_a_disk_that_does_not_go(void **state)
{
    struct azure *azure = azure_with("{'fault': 'failDetach', 'disk': 'a', 'code': 'Conflict'}");
    CLEANUP(freep) char *attached = attach_both(azure);

    (void)state;
    loop_advance(azure->loop, 10 * 1000);
    CLEANUP(freep) char *first = detach_both(azure, "");
    loop_advance(azure->loop, 1000);
    json_decref(ask_json(azure, "PATCH", "{P}/virtualMachines/vm1", "{}", 200));
    loop_advance(azure->loop, 1000);
    expect_vm(azure, "Failed", "a*");
    faults_clear(azure->model->faults);
    json_decref(ask_json(azure, "PATCH", "{P}/virtualMachines/vm1", "{}", 200));
    loop_advance(azure->loop, 1000);
    expect_vm(azure, "Succeeded", "");
    expect_disk(azure, "a", "Unattached");
    azure_free(azure);
}

/* ---- time ---- */

static void test_an_operation_takes_longer(void **state)
{
    struct azure *azure = azure_with("{'fault': 'delay', 'time': '90s', 'kind': 'vm*'}");
    CLEANUP(freep) char *url = attach_both(azure);

    (void)state;
    loop_advance(azure->loop, 100 * 1000 - 1);
    expect_operation(azure, url, "InProgress", "");
    loop_advance(azure->loop, 1);
    expect_operation(azure, url, "Succeeded", "");
    azure_free(azure);
}

/* Operations of a zone hang, and reads do not; when the zone is back, they end. */
static void test_an_operation_hangs_until_the_rule_is_removed(void **state)
{
    struct azure *azure = azure_with("{'fault': 'stick', 'zone': '2'}");
    unsigned rule = add(azure, "{'fault': 'stick', 'zone': '1'}");
    CLEANUP(freep) char *url = attach_both(azure);

    (void)state;
    loop_advance(azure->loop, 3000 * 1000);
    expect_operation(azure, url, "InProgress", "");
    expect_vm(azure, "Updating", "a b");
    operations_release(azure->model, rule + 1);
    loop_advance(azure->loop, 1000);
    expect_operation(azure, url, "InProgress", "");
    assert_true(faults_remove(azure->model->faults, rule));
    operations_release(azure->model, rule);
    loop_advance(azure->loop, 0);
    expect_operation(azure, url, "Succeeded", "");
    expect_disk(azure, "a", "Attached");
    azure_free(azure);
}

static void test_a_newer_update_ends_one_that_hangs(void **state)
{
    struct azure *azure = azure_with("{'fault': 'stick', 'kind': 'vm*', 'calls': '1'}");
    CLEANUP(freep) char *url = attach_both(azure);

    (void)state;
    loop_advance(azure->loop, 3000 * 1000);
    json_decref(ask_json(azure, "PATCH", "{P}/virtualMachines/vm1", "{}", 200));
    expect_operation(azure, url, "Failed", "OperationPreempted");
    loop_advance(azure->loop, 10 * 1000);
    expect_vm(azure, "Succeeded", "a b");
    azure_free(azure);
}

static void test_updating_after_success(void **state)
{
    struct azure *azure = azure_with("{'fault': 'stayUpdating', 'time': '30s'}");
    CLEANUP(freep) char *url = attach_both(azure);

    (void)state;
    loop_advance(azure->loop, 10 * 1000);
    expect_operation(azure, url, "Succeeded", "");
    loop_advance(azure->loop, 29 * 1000);
    expect_vm(azure, "Updating", "a b");
    loop_advance(azure->loop, 1000);
    expect_vm(azure, "Succeeded", "a b");
    azure_free(azure);
}

/* ---- disks ---- */

/* Accepted, then failed: the disk is there and useless until it is put again. */
static void test_a_creation_that_fails(void **state)
{
    static const char body[] = "{'location': 'eastus', 'properties': {'creationData': "
                               "{'createOption': 'Empty'}, 'diskSizeGB': 4}}";
    struct azure *azure =
        azure_with("{'fault': 'failOperation', 'kind': 'diskCreate', 'resource': 'c', 'code': "
                   "'AllocationFailed'}");

    (void)state;
    json_decref(ask_json(azure, "PUT", "{P}/disks/c", body, 202));
    loop_advance(azure->loop, 1000);
    json_t *json = ask_json(azure, "GET", "{P}/disks/c", NULL, 200);
    expect(json, "properties.provisioningState", "Failed");
    json_decref(json);
    json_decref(ask_json(azure, "PUT", "{P}/disks/c", body, 202));
    loop_advance(azure->loop, 1000);
    json = ask_json(azure, "GET", "{P}/disks/c", NULL, 200);
    expect(json, "properties.provisioningState", "Succeeded");
    json_decref(json);
    azure_free(azure);
}

static const struct {
    const char *rule, *provisioning, *later; /* and a minute later */
} snapshots[] = {
    {"{'fault': 'failOperation', 'kind': 'snapshotCreate', 'code': 'CopySourceNotFound'}", "Failed",
     "Failed"},
    {"{'fault': 'endFailed', 'resource': 'S'}", "Failed", "Failed"},
    {"{'fault': 'stayUpdating', 'time': '30s', 'resource': 's'}", "Updating", "Succeeded"},
};

static void test_snapshots(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(snapshots); i++) {
        struct azure *azure = azure_with(snapshots[i].rule);

        json_decref(
            ask_json(azure, "PUT", "{P}/snapshots/s",
                     "{'location': 'eastus', 'properties': {'creationData': {'createOption': "
                     "'Copy', 'sourceResourceId': '" DISK_ID "a'}}}",
                     202));
        loop_advance(azure->loop, 10 * 1000);
        json_t *json = ask_json(azure, "GET", "{P}/snapshots/s", NULL, 200);
        expect(json, "properties.provisioningState", snapshots[i].provisioning);
        json_decref(json);
        loop_advance(azure->loop, 60 * 1000);
        json = ask_json(azure, "GET", "{P}/snapshots/s", NULL, 200);
        expect(json, "properties.provisioningState", snapshots[i].later);
        json_decref(json);
        azure_free(azure);
    }
}

/* ---- throttling as a fault ---- */

static const struct {
    const char *rule, *retry_after, *code_at, *code;
} throttles[] = {
    {"{'fault': 'throttle'}", "", "code", "OperationNotAllowed"},
    {"{'fault': 'throttle', 'retryAfter': 120}", "120", "code", "OperationNotAllowed"},
    {"{'fault': 'throttle', 'retryAfter': 17, 'wrapped': true}", "17", "error.code",
     "OperationNotAllowed"},
    {"{'fault': 'throttle', 'retryAfter': 17, 'asDate': true}", "Thu, 01 Jan 2026 00:00:19 GMT",
     "code", "OperationNotAllowed"},
    {"{'fault': 'throttle', 'retryAfter': 6, 'by': 'resourceManager'}", "6", "error.code",
     "SubscriptionRequestsThrottled"},
};

static void test_throttling(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(throttles); i++) {
        struct azure *azure = azure_with(throttles[i].rule);
        CLEANUP(http_response_finip) struct http_response response = {0};

        ask(azure, "GET", "{P}/virtualMachines/vm1", NULL, &response);
        assert_int_equal(response.status, 429);
        assert_string_equal(header_of(&response, "Retry-After"), throttles[i].retry_after);
        json_t *json = json_loads(response.body, 0, NULL);
        expect(json, throttles[i].code_at, throttles[i].code);
        json_decref(json);
        azure_free(azure);
    }
}

/* ---- tokens ---- */

static const struct {
    const char *rule;
    int status;
    const char *error;
} tokens[] = {
    {"{'fault': 'refuse', 'kind': 'imds.token', 'code': 'gone', 'status': 410, 'for': '70s'}", 410,
     "gone"},
    {"{'fault': 'refuse', 'resource': 'VM1', 'code': 'invalid_request', 'status': 400, 'message': "
     "'Identity not found', 'for': '70s'}",
     400, "invalid_request"},
    {"{'fault': 'throttle', 'kind': 'imds.*', 'for': '70s'}", 429, "temporarily_unavailable"},
};

static void expect_token(struct azure *azure, int status, const char *error)
{
    json_t *json = ask_json(azure, "GET",
                            "http://169.254.169.254/metadata/identity/oauth2/token"
                            "?api-version=2018-02-01&resource=https://management.azure.com",
                            NULL, status);

    expect(json, "error", error);
    json_decref(json);
}

/* The metadata service is of no use for a while. */
static void test_tokens_of_the_metadata_service(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(tokens); i++) {
        struct azure *azure = azure_with(tokens[i].rule);

        azure->extra[0] = (struct http_header){"Metadata", "true"};
        expect_token(azure, tokens[i].status, tokens[i].error);
        loop_advance(azure->loop, 69 * 1000);
        expect_token(azure, tokens[i].status, tokens[i].error);
        loop_advance(azure->loop, 1000);
        expect_token(azure, 200, "");
        azure_free(azure);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attaches),
        cmocka_unit_test(test_the_next_update_tries_again),
        cmocka_unit_test(test_detaches),
        cmocka_unit_test(test_a_disk_that_does_not_go),
        cmocka_unit_test(test_an_operation_takes_longer),
        cmocka_unit_test(test_an_operation_hangs_until_the_rule_is_removed),
        cmocka_unit_test(test_a_newer_update_ends_one_that_hangs),
        cmocka_unit_test(test_updating_after_success),
        cmocka_unit_test(test_a_creation_that_fails),
        cmocka_unit_test(test_snapshots),
        cmocka_unit_test(test_throttling),
        cmocka_unit_test(test_tokens_of_the_metadata_service),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
