/* Which disks of replicas are checked, state by state. */
#include "node/replica_check.h"

#include "lib/base/alloc.h"
#include "provisioner-lib/records/attachment.h"
#include "test/unit/object.h"

static const struct {
    const char *wanted, *role, *state;
    int lun;
} cases[] = {
    {"Replica", "Replica", "Attached", 3},
    {"Replica", "Replica", "Attaching", NO_LUN}, /* its disk is still to come */
    {"Replica", "Replica", "Detaching", NO_LUN},
    {"Primary", "Replica", "Attached", NO_LUN},
    {"Replica", "Primary", "Attached", NO_LUN},
};

static void test_which_are_checked(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *object = object_taken(
            &api__az_volume_attachment__descriptor,
            mem_printf("{'metadata':{'name':'a'},'spec':{'role':'%s'},'status':{'state':'%s',"
                       "'detail':{'role':'%s','publish_context':{'LUN':'3','diskSizeBytes':'1'}}}}",
                       cases[i].wanted, cases[i].state, cases[i].role));

        if (replica_check_lun(as_attachment(object)) != cases[i].lun)
            fail_msg("row %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_which_are_checked)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
