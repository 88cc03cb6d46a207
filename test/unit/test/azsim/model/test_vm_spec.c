/* What may be said of a VM, and what is said to who says something else. */
#include "test/azsim/model/vm_spec.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/model/script.h"

#define ONE "'name': 'one', 'size': 'Standard_B1s'"

/* What is read is written again, completed. */
static void test_good_ones(void **state)
{
    static const struct {
        const char *text, *written;
    } rows[] = {
        {"{" ONE "}", "{" ONE ", 'zone': ''}"},
        {"{" ONE ", 'zone': '2', 'identity': 'system', 'ultraDisks': true}",
         "{" ONE ", 'zone': '2', 'identity': 'system', 'ultraDisks': true}"},
        {"{" ONE ", 'zone': '', 'scaleSet': 'pool', 'instanceId': '3'}",
         "{" ONE ", 'zone': '', 'scaleSet': 'pool', 'instanceId': '3'}"},
        {"{" ONE ", 'zone': '', 'scaleSet': 'flex', 'resourceName': 'flex_1a2b3c4d'}",
         "{" ONE ", 'zone': '', 'scaleSet': 'flex', 'resourceName': 'flex_1a2b3c4d'}"},
        {"{" ONE ", 'zone': '', 'subscriptionId': 's', 'resourceGroup': 'nodes'}",
         "{" ONE ", 'zone': '', 'subscriptionId': 's', 'resourceGroup': 'nodes'}"},
        {"{" ONE ", 'zone': '', 'networkNamespace': '/run/netns/a', 'deviceDirectory': '/srv/a'}",
         "{" ONE ", 'zone': '', 'networkNamespace': '/run/netns/a', 'deviceDirectory': '/srv/a'}"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *json = json_of(rows[i].text);
        CLEANUP(json_decrefp) json_t *wanted = json_of(rows[i].written);
        CLEANUP(vm_spec_finip) struct vm_spec spec = {0};

        assert_ok(vm_spec_read(json, "vm", &spec));
        CLEANUP(json_decrefp) json_t *written = vm_spec_json(&spec);
        assert_true(json_equal(written, wanted));
    }
}

static void test_wrong_ones(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"[]", "vm: expected an object"},
        {"{'size': 'Standard_B1s'}", "vm.name: missing"},
        {"{'name': 'a b', 'size': 'Standard_B1s'}",
         "vm.name: \"a b\" is not a name of 1 to 64 letters, digits, '-', '.' and '_'"},
        {"{" ONE ", 'resourceName': ''}",
         "vm.resourceName: \"\" is not a name of 1 to 64 letters, digits, '-', '.' and '_'"},
        {"{" ONE ", 'resourceName': 1}", "vm.resourceName: expected a string"},
        {"{" ONE ", 'scaleSet': 'pool', 'instanceId': '3', 'resourceName': 'pool_3'}",
         "vm.resourceName: an instance of a uniform scale set is named by the scale set and its "
         "instanceId"},
        {"{" ONE ", 'zone': '4'}", "vm.zone: \"4\" is not one of \"1\", \"2\", \"3\" and \"\""},
        {"{" ONE ", 'instanceId': '4'}", "vm.instanceId: it needs a scaleSet"},
        {"{" ONE ", 'identity': 'mine'}", "vm.identity: \"mine\" is not \"system\""},
        {"{" ONE ", 'deviceDirectory': 'a'}", "vm.deviceDirectory: \"a\" is not an absolute path"},
        {"{" ONE ", 'colour': 'a'}",
         "vm.colour: unknown member; there are name resourceName size zone identity ultraDisks "
         "subscriptionId resourceGroup scaleSet instanceId networkNamespace deviceDirectory"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *json = json_of(rows[i].text);
        struct vm_spec spec;

        assert_fails(vm_spec_read(json, "vm", &spec), ERR_INVALID, rows[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_ones),
        cmocka_unit_test(test_wrong_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
