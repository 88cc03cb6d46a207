/* Which attachments are a reason to have the node's Lease, and what of it is to be written when. */
#include "node/node_lease.h"

#include "lib/base/alloc.h"
#include "provisioner-lib/records/attachment.h"
#include "test/unit/object.h"

#define ATTACHMENT(wish, role, note)                                                               \
    "{'metadata':{'name':'a'},'spec':{'volume_context':{" wish "}},"                               \
    "'status':{'state':'Attached','annotation':{" note "},'detail':{'role':'" role "'}}}"
#define WISH "'automaticFailover':'true'"
#define ASKED_FOR "'disk.csi.azure.com/automatic-failover':'true'"
#define FENCE(text) "'disk.csi.azure.com/fence':'" text "'"
#define KEY "0x0a0a0a0a00000001"

static const struct {
    const char *object;
    bool expected;
} reasons[] = {
    {ATTACHMENT(WISH, "Primary", FENCE("held " KEY)), true},
    {ATTACHMENT("'AUTOMATICFAILOVER':'True'", "Primary", FENCE("held " KEY)), true},
    {ATTACHMENT("'automaticFailover':'false'", "Primary", FENCE("held " KEY)), false},
    {ATTACHMENT("", "Primary", FENCE("held " KEY)), false},
    /* Its pods ask for it. */
    {ATTACHMENT("", "Primary", ASKED_FOR "," FENCE("held " KEY)), true},
    {ATTACHMENT("", "Replica", ASKED_FOR), false},
    /* Without one only a machine that is off is given up. */
    {ATTACHMENT(WISH, "Primary", FENCE("unsupported")), true},
    {ATTACHMENT(WISH, "Primary", ""), true},
    /* Another node has it. */
    {ATTACHMENT(WISH, "Primary", FENCE("lost " KEY)), false},
    /* One that has preempted a former primary and is not the primary yet. */
    {ATTACHMENT(WISH, "Replica", FENCE("held " KEY)), false},
    {"{'metadata':{'name':'a'}}", false},
};

static void test_what_it_is_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(reasons); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *object =
            object_of(&api__az_volume_attachment__descriptor, reasons[i].object);

        if (node_lease_is_for(as_attachment(object)) != reasons[i].expected)
            fail_msg("%s", reasons[i].object);
    }
}

#define LEFT .state = NODE_LEASE_LEFT
#define HELD .state = NODE_LEASE_HELD
#define FREE .state = NODE_LEASE_FREE
#define KNOWN .known = true
#define WANTED .known = true, .wanted = true
#define DUE .due = true
#define FAILED .failed = true
#define STOPPING .stopping = true

static const struct {
    struct node_lease_view view;
    enum node_lease_step step;
} plans[] = {
    /* What has not been read yet says nothing: a Lease that a former life has stays. */
    {{LEFT, DUE}, NODE_LEASE_WAIT},
    {{LEFT, KNOWN, DUE}, NODE_LEASE_GIVE_UP},
    {{LEFT, WANTED, DUE}, NODE_LEASE_RENEW},
    {{FREE, WANTED, DUE}, NODE_LEASE_RENEW},
    {{FREE, WANTED}, NODE_LEASE_RENEW},
    {{FREE, KNOWN, DUE}, NODE_LEASE_WAIT},
    {{HELD, WANTED}, NODE_LEASE_WAIT},
    {{HELD, WANTED, DUE}, NODE_LEASE_RENEW},
    {{HELD, KNOWN}, NODE_LEASE_GIVE_UP},
    /* Not before a period has passed, and not later. */
    {{HELD, WANTED, FAILED}, NODE_LEASE_WAIT},
    {{HELD, WANTED, FAILED, DUE}, NODE_LEASE_RENEW},
    {{FREE, WANTED, FAILED}, NODE_LEASE_WAIT},
    {{FREE, WANTED, FAILED, DUE}, NODE_LEASE_RENEW},
    {{HELD, KNOWN, FAILED}, NODE_LEASE_WAIT},
    {{HELD, KNOWN, FAILED, DUE}, NODE_LEASE_GIVE_UP},
    /* Whatever is wanted then. */
    {{HELD, WANTED, STOPPING}, NODE_LEASE_GIVE_UP},
    {{HELD, WANTED, STOPPING, DUE}, NODE_LEASE_GIVE_UP},
    {{HELD, WANTED, STOPPING, FAILED}, NODE_LEASE_WAIT},
    {{LEFT, STOPPING, DUE}, NODE_LEASE_GIVE_UP},
    {{FREE, WANTED, STOPPING, DUE}, NODE_LEASE_END},
    {{FREE, STOPPING}, NODE_LEASE_END},
};

static void test_what_comes_next(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(plans); i++)
        if (node_lease_plan(&plans[i].view) != plans[i].step)
            fail_msg("row %zu", i);
}

static void test_three_times_in_its_duration(void **state)
{
    (void)state;
    assert_int_equal(node_lease_period_ms(&(struct settings){.node_lease_duration_ms = 6000}),
                     2000);
    assert_int_equal(node_lease_period_ms(&(struct settings){.node_lease_duration_ms = 0}), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_it_is_for),
        cmocka_unit_test(test_what_comes_next),
        cmocka_unit_test(test_three_times_in_its_duration),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
