/* Which replica proves that the disk refuses a silent node, row by row. */
#include "controller/failover/proof.h"

#include "lib/base/alloc.h"
#include "provisioner-lib/records/attachment.h"
#include "test/unit/object.h"

#define REQUEST "0x1111111100000001 2026-01-01T00:00:00Z"
#define OTHER "0x1111111100000001 2026-01-01T00:00:09Z"
#define HELD "held 0x1111111100000002 from 0x1111111100000001"
#define GOING ",'deletionTimestamp':'2026-01-01T00:00:05Z'"

static const struct {
    const char *why;
    const char *request, *answer, *fence, *going;
    bool answered, proven;
} rows[] = {
    {"it has preempted", REQUEST, REQUEST, HELD, "", true, true},
    {"nothing was asked", NULL, REQUEST, HELD, "", false, false},
    {"at another time", REQUEST, OTHER, HELD, "", false, false},
    {"taken from it since", REQUEST, REQUEST, "lost 0x1111111100000002", "", true, false},
    {"its disk goes, and the fence with it", REQUEST, REQUEST, HELD, GOING, true, false},
};

static void test_what_is_a_proof(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *replica = object_taken(
            &api__az_volume_attachment__descriptor,
            mem_printf("{'metadata':{'name':'a'%s},'status':{'annotation':{'%s':'%s','%s':'%s'}}}",
                       rows[i].going, ANNOTATION_PREEMPTED, rows[i].answer, ANNOTATION_FENCE,
                       rows[i].fence));

        if (preempt_is_answered(replica, rows[i].request) != rows[i].answered ||
            preempt_is_proven(replica, rows[i].request) != rows[i].proven)
            fail_msg("%s", rows[i].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_a_proof)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
