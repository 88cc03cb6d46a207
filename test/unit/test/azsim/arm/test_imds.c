/* The instance metadata service, as a program inside of a VM sees it. */
#include "lib/base/alloc.h"
#include "test/azsim/model/resource.h"
#include "test/azsim/model/vm.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/azure.h"

#define IMDS "http://169.254.169.254/metadata"
#define INSTANCE IMDS "/instance?api-version=2021-10-01&format=json"
#define TOKEN IMDS "/identity/oauth2/token?api-version=2018-02-01"

static const struct http_header metadata = {"Metadata", "true"};

static struct azure *in_a_vm(const char *vm)
{
    struct azure *azure = azure_new(NULL);

    free(TAKE_PTR(azure->token));
    azure->extra[0] = metadata;
    azure_move(azure, vm);
    return azure;
}

static void test_instance(void **state)
{
    static const struct {
        const char *path, *value;
    } texts[] = {
        {"compute.name", "vm1"},
        {"compute.location", "eastus"},
        {"compute.zone", "1"},
        {"compute.vmSize", "Standard_D4s_v5"},
        {"compute.resourceGroupName", "rg"},
        {"compute.subscriptionId", SUBSCRIPTION},
        {"compute.osProfile.computerName", "vm1"},
        {"compute.platformFaultDomain", "0"},
        {"compute.vmScaleSetName", ""},
        {"compute.virtualMachineScaleSet.id", ""},
        {"compute.tags", "a:b;c:d"},
        {"compute.storageProfile.osDisk.name", "vm1_OsDisk_1"},
    };
    struct azure *azure = in_a_vm("vm1");

    (void)state;
    json_object_set_new(azure->model->vms->body, "tags", json_of("{'a': 'b', 'c': 'd'}"));
    json_t *json = ask_json(azure, "GET", INSTANCE, NULL, 200);
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (strcmp(resource_text(json, texts[i].path, "(nothing)"), texts[i].value) != 0)
            fail_msg("%s is %s", texts[i].path, resource_text(json, texts[i].path, "(nothing)"));
    assert_string_equal(
        resource_text(json_array_get(resource_get(json, "compute.tagsList"), 1), "name", ""), "c");
    json_decref(json);
    azure_free(azure);
}

static void test_data_disks_are_those_that_are_there(void **state)
{
    struct azure *azure = azure_new(NULL);

    (void)state;
    make_disk(azure, "d", 2);
    json_t *body =
        json_of("{'dataDisksToAttach': [{'lun': 5, 'diskId': '/subscriptions/" SUBSCRIPTION
                "/resourceGroups/rg/providers/Microsoft.Compute/disks/d'}]}");
    struct operation *operation;
    assert_null(vm_attach_detach(azure->model->vms, body, &operation));
    json_decref(body);

    azure->extra[0] = metadata;
    json_t *json = ask_json(azure, "GET", INSTANCE, NULL, 200);
    assert_int_equal(json_array_size(resource_get(json, "compute.storageProfile.dataDisks")), 0);
    json_decref(json);
    loop_advance(azure->loop, 10000);
    json = ask_json(azure, "GET", INSTANCE, NULL, 200);
    const json_t *disk = json_array_get(resource_get(json, "compute.storageProfile.dataDisks"), 0);
    assert_string_equal(resource_text(disk, "lun", ""), "5");
    assert_string_equal(resource_text(disk, "name", ""), "d");
    assert_string_equal(resource_text(disk, "caching", ""), "None");
    assert_string_equal(resource_text(disk, "isSharedDisk", ""), "true");
    assert_string_equal(resource_text(disk, "diskSizeGB", ""), "10");
    json_decref(json);
    azure_free(azure);
}

static void test_parts_and_text(void **state)
{
    struct azure *azure = in_a_vm("vm1");
    CLEANUP(http_response_finip) struct http_response response = {0};

    (void)state;
    ask(azure, "GET", IMDS "/instance/compute/zone?api-version=2021-10-01&format=text", NULL,
        &response);
    assert_int_equal(response.status, 200);
    assert_string_equal(response.body, "1");
    json_t *json = ask_json(azure, "GET", IMDS "/instance/compute/osProfile?api-version=2021-10-01",
                            NULL, 200);
    assert_string_equal(resource_text(json, "computerName", ""), "vm1");
    json_decref(json);
    json = ask_json(azure, "GET", IMDS "/versions", NULL, 200);
    assert_true(json_array_size(json_object_get(json, "apiVersions")) > 20);
    json_decref(json);
    azure_free(azure);
}

static const struct {
    const char *why, *vm, *url;
    struct http_header header;
    int more; /* 0: instead of the usual header, 1: beside it */
    int status;
    const char *text;
} refusals[] = {
    {"without the header", "vm1", INSTANCE, {"X", "y"}, 0, 400, "Required metadata header"},
    {"with another value", "vm1", INSTANCE, {"Metadata", "no"}, 0, 400, "Required metadata header"},
    {"through a proxy", "vm1", INSTANCE, {"X-Forwarded-For", "1.2.3.4"}, 1, 400, "X-Forwarded-For"},
    {"without a version", "vm1", IMDS "/instance?x", {0}, 0, 400, "newest-versions"},
    {"of a version that there is not",
     "vm1",
     IMDS "/instance?api-version=2021-10-02",
     {0},
     0,
     400,
     "newest-versions"},
    {"something else",
     "vm1",
     IMDS "/scheduledevents?api-version=2020-07-01",
     {0},
     0,
     404,
     "Not found"},
    {"no such member",
     "vm1",
     IMDS "/instance/compute/magic?api-version=2021-10-01",
     {0},
     0,
     404,
     "Not found"},
    {"a token without a resource", "vm1", TOKEN, {0}, 0, 400, "'resource' is missing"},
    {"a token without a version",
     "vm1",
     IMDS "/identity/oauth2/token?resource=x",
     {0},
     0,
     400,
     "'api-version' is missing"},
    {"a token of a VM without identity",
     "vm2",
     TOKEN "&resource=x",
     {0},
     0,
     400,
     "Identity not found"},
    {"a token of another identity",
     "vm1",
     TOKEN "&resource=x&client_id=" CLIENT,
     {0},
     0,
     400,
     "Identity not found"},
    {"a VM that is gone", "vm9", INSTANCE, {0}, 0, 410, ""},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        struct azure *azure = in_a_vm(refusals[i].vm);
        CLEANUP(http_response_finip) struct http_response response = {0};

        if (refusals[i].header.name)
            azure->extra[refusals[i].more] = refusals[i].header;
        ask(azure, "GET", refusals[i].url, NULL, &response);
        if (response.status != refusals[i].status || !strstr(response.body, refusals[i].text))
            fail_msg("%s: %d %s", refusals[i].why, response.status, response.body);
        azure_free(azure);
    }
}

static void test_identity_token_opens_arm(void **state)
{
    struct azure *azure = in_a_vm("vm1");
    CLEANUP(freep)
    char *by_client =
        mem_printf(TOKEN "&resource=https://azsim:443&client_id=%s", azure->model->vms->client_id);
    CLEANUP(freep)
    char *by_id =
        mem_printf(TOKEN "&resource=https://azsim:443&msi_res_id=%s", azure->model->vms->id);

    (void)state;
    json_decref(ask_json(azure, "GET", by_client, NULL, 200));
    json_decref(ask_json(azure, "GET", by_id, NULL, 200));
    json_t *json = ask_json(azure, "GET", TOKEN "&resource=https://azsim:443", NULL, 200);
    assert_string_equal(resource_text(json, "expires_in", ""), "86399");
    assert_string_equal(resource_text(json, "expires_on", ""), "1767311999");
    assert_string_equal(resource_text(json, "not_before", ""), "1767225600");
    assert_string_equal(resource_text(json, "resource", ""), "https://azsim:443");
    assert_string_equal(resource_text(json, "client_id", ""), azure->model->vms->client_id);
    azure->token = mem_strdup(resource_text(json, "access_token", ""));
    json_decref(json);
    json_decref(ask_json(azure, "GET", "{P}/disks", NULL, 200));
    azure_free(azure);
}

#define RESOURCE(name)                                                                             \
    "/subscriptions/" SUBSCRIPTION "/resourceGroups/rg/providers/Microsoft.ManagedIdentity/"       \
    "userAssignedIdentities/" name

static const struct arm_identity given[] = {
    {"one", "a1000000-0000-0000-0000-000000000000", "b1000000-0000-0000-0000-000000000000",
     (const char *[]){"vm2", "vm3"}, 2},
    {"two", "a2000000-0000-0000-0000-000000000000", "b2000000-0000-0000-0000-000000000000", NULL,
     0},
};

static const struct {
    const char *vm, *selector;
    const char *client_id; /* of the token; "own": the VM's; NULL: refused */
} meant[] = {
    {"vm1", "", "own"},
    {"vm1", "&client_id=a2000000-0000-0000-0000-000000000000",
     "a2000000-0000-0000-0000-000000000000"},
    {"vm1", "&client_id=A2000000-0000-0000-0000-000000000000",
     "a2000000-0000-0000-0000-000000000000"},
    {"vm1", "&client_id=a1000000-0000-0000-0000-000000000000", NULL}, /* vm2's only */
    {"vm1", "&object_id=a2000000-0000-0000-0000-000000000000", NULL}, /* a client id */
    {"vm2", "", NULL},                                                /* which of the two? */
    {"vm2", "&object_id=b1000000-0000-0000-0000-000000000000",
     "a1000000-0000-0000-0000-000000000000"},
    {"vm2", "&msi_res_id=" RESOURCE("two"), "a2000000-0000-0000-0000-000000000000"},
    {"vm2", "&msi_res_id=" RESOURCE("three"), NULL},
};

static void test_identities_that_were_given(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(meant); i++) {
        struct azure *azure =
            azure_new(&(struct arm_config){.identities = given, .n_identities = COUNT_OF(given)});
        CLEANUP(freep) char *url = mem_printf(TOKEN "&resource=x%s", meant[i].selector);
        const char *wanted = meant[i].client_id;

        azure->extra[0] = metadata;
        if (strcmp(meant[i].vm, "vm1") != 0)
            azure_move(azure, meant[i].vm);
        json_t *json = ask_json(azure, "GET", url, NULL, wanted ? 200 : 400);
        if (wanted)
            assert_string_equal(resource_text(json, "client_id", ""),
                                strcmp(wanted, "own") == 0 ? azure->model->vms->client_id : wanted);
        json_decref(json);
        azure_free(azure);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instance),
        cmocka_unit_test(test_data_disks_are_those_that_are_there),
        cmocka_unit_test(test_parts_and_text),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_identity_token_opens_arm),
        cmocka_unit_test(test_identities_that_were_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
