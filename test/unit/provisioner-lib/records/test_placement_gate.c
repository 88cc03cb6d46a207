/* The gate of a pod: only ours is found, when it is overdue, and what takes it away. */
#include "provisioner-lib/records/placement_gate.h"

#include "test/unit/object.h"

#define NOON INT64_C(1772366400000000) /* 2026-03-01T12:00:00Z */
#define SECOND INT64_C(1000000)

#define TEST_OF_UID "{'op':'test','path':'/metadata/uid','value':'u'},"

/* The index of the gate, if there is one, is in the patch. */
static const struct {
    const char *spec;
    const char *patch;
} rows[] = {
    {"{}", NULL},
    {"{'schedulingGates':[]}", NULL},
    {"{'schedulingGates':[{}]}", NULL},
    {"{'schedulingGates':[{'name':'disk.csi.azure.com/placement'}]}",
     "[" TEST_OF_UID "{'op':'test','path':'/spec/schedulingGates/0/name',"
     "'value':'disk.csi.azure.com/placement'},"
     "{'op':'remove','path':'/spec/schedulingGates/0'}]"},
    {"{'schedulingGates':[{'name':'a'},{'name':'disk.csi.azure.com/placement'},{'name':'b'}]}",
     "[" TEST_OF_UID "{'op':'test','path':'/spec/schedulingGates/1/name',"
     "'value':'disk.csi.azure.com/placement'},"
     "{'op':'remove','path':'/spec/schedulingGates/1'}]"},
    {"{'schedulingGates':[{'name':'disk.csi.azure.com/placement2'},"
     "{'name':'disk.csi.azure.com'},{'name':'Disk.csi.azure.com/placement'}]}",
     NULL},
};

static struct kube_object *pod_of(const char *metadata, const char *spec)
{
    return object_taken(
        &api__pod__descriptor,
        mem_printf("{'metadata':{'name':'p','namespace':'n'%s},'spec':%s}", metadata, spec));
}

static void test_gates(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *object = pod_of(",'uid':'u'", rows[i].spec);
        const Api__Pod *pod = KUBE_AS(Api__Pod, object);
        json_t *patch = placement_gate_removal(pod);
        json_t *wanted = rows[i].patch ? json_of(rows[i].patch) : NULL;

        assert_int_equal(pod_has_placement_gate(pod), rows[i].patch != NULL);
        if (wanted ? !json_equal(patch, wanted) : patch != NULL)
            fail_msg("row %zu: %s", i, json_dumps(patch, 0));
        json_decref(patch);
        json_decref(wanted);
    }
}

/* A pod that the API server has not made yet has no uid, and nothing that could be patched. */
static void test_nothing_is_patched_that_could_be_another_pod(void **state)
{
    CLEANUP(kube_object_unrefp)
    struct kube_object *object = pod_of("", rows[3].spec);

    (void)state;
    assert_null(placement_gate_removal(KUBE_AS(Api__Pod, object)));
}

static const struct {
    const char *made; /* creationTimestamp */
    int64_t seen_us, overdue_us;
} times[] = {
    /* Seen at once: what is left out of the creationTimestamp does not count. */
    {"2026-03-01T12:00:00Z", NOON + SECOND / 2, NOON + SECOND / 2 + 5 * SECOND},
    /* Seen after a restart: it has waited already. */
    {"2026-03-01T12:00:00Z", NOON + 4 * SECOND, NOON + 6 * SECOND},
    {"2026-03-01T12:00:00Z", NOON + 3600 * SECOND, NOON + 6 * SECOND},
    /* Our clock is behind, or there is no time. */
    {"2026-03-01T13:00:00Z", NOON, NOON + 5 * SECOND},
    {"soon", NOON, NOON + 5 * SECOND},
};

static void test_overdue(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        CLEANUP(freep) char *made = mem_printf(",'creationTimestamp':'%s'", times[i].made);
        CLEANUP(kube_object_unrefp) struct kube_object *object = pod_of(made, "{}");

        assert_int_equal(placement_gate_overdue_us(KUBE_AS(Api__Pod, object), times[i].seen_us),
                         times[i].overdue_us);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gates),
        cmocka_unit_test(test_nothing_is_patched_that_could_be_another_pod),
        cmocka_unit_test(test_overdue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
