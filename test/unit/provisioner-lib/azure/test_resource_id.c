#include "provisioner-lib/azure/resource_id.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define GROUP "/subscriptions/s-1/resourceGroups/rg_(1).x"
#define DISK GROUP "/providers/Microsoft.Compute/disks/d.1"
#define FORM "/subscriptions/S/resourceGroups/G/providers/Microsoft.Compute/TYPE/NAME"

static void test_an_id_of_a_disk(void **state)
{
    CLEANUP(resource_id_fini) struct resource_id id = {0};

    (void)state;
    assert_ok(resource_id_parse(DISK, &id));
    assert_string_equal(id.subscription, "s-1");
    assert_string_equal(id.resource_group, "rg_(1).x");
    assert_string_equal(id.type, "disks");
    assert_string_equal(id.name, "d.1");
    CLEANUP(freep)
    char *text = resource_id_format(id.subscription, id.resource_group, id.type, id.name);
    assert_string_equal(text, DISK);
}

/* What could ask for something else, as a path of a URL. */
static const struct {
    const char *id, *fault;
} bad[] = {
    {DISK "?api-version=1", "\"d.1?api-version=1\" is not a valid name of an Azure resource"},
    {DISK "#", "\"d.1#\" is not a valid name of an Azure resource"},
    {DISK "/", "\"\" is not a valid name of an Azure resource"},
    {GROUP "/providers/Microsoft.Compute/disks/..",
     "\"..\" is not a valid name of an Azure resource"},
    {"/subscriptions/s/resourceGroups/../providers/Microsoft.Compute/disks/d",
     "\"..\" is not a valid name of an Azure resource"},
    {"/subscriptions/./resourceGroups/rg/providers/Microsoft.Compute/disks/d",
     "\".\" is not a valid name of an Azure resource"},
    {GROUP "//providers/Microsoft.Compute/disks/d",
     "\"\" is not a valid name of an Azure resource"},
    {GROUP "/providers/Microsoft.Compute/disks/%2e%2e",
     "\"%2e%2e\" is not a valid name of an Azure resource"},
    {GROUP "/providers/Microsoft.Compute/disks/a b",
     "\"a b\" is not a valid name of an Azure resource"},
    {GROUP "/providers/Microsoft.Compute/disks/a@b",
     "\"a@b\" is not a valid name of an Azure resource"},
};

static void test_what_is_no_id(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        CLEANUP(freep) char *fault = mem_printf("\"%s\": %s", bad[i].id, bad[i].fault);
        struct resource_id unused;

        assert_fails(resource_id_check(bad[i].id), ERR_INVALID, fault);
        assert_fails(resource_id_parse(bad[i].id, &unused), ERR_INVALID, fault);
    }
    assert_fails(resource_id_check("https://evil.example/subscriptions/s"), ERR_INVALID,
                 "\"https://evil.example/subscriptions/s\" does not begin with /subscriptions/");
}

static void test_an_id_of_something_else(void **state)
{
    static const char instance[] =
        GROUP "/providers/Microsoft.Compute/virtualMachineScaleSets/p/virtualMachines/7";
    struct resource_id unused;

    (void)state;
    assert_ok(resource_id_check(instance));
    assert_fails(resource_id_parse(instance, &unused), ERR_INVALID,
                 "\"" GROUP "/providers/Microsoft.Compute/virtualMachineScaleSets/p/"
                 "virtualMachines/7\" is not of the form " FORM);
    assert_fails(resource_id_parse(GROUP, &unused), ERR_INVALID,
                 "\"" GROUP "\" is not of the form " FORM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_id_of_a_disk),
        cmocka_unit_test(test_what_is_no_id),
        cmocka_unit_test(test_an_id_of_something_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
