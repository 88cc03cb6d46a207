#include "node/zone.h"

#include "lib/base/alloc.h"
#include "test/unit/object.h"

static void test_metadata(void **state)
{
    static const struct {
        const char *answer, *zone;
    } rows[] = {
        {"{'compute':{'location':'eastus','zone':'1'}}", "eastus-1"},
        {"{'compute':{'location':'WestEurope','zone':'3','name':'vm'},'network':{}}",
         "westeurope-3"},
        {"{'compute':{'location':'eastus','zone':''}}", ""},
        {"{'compute':{'location':'eastus'}}", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *answer = json_of(rows[i].answer);
        CLEANUP(freep) char *zone = NULL;

        assert_ok(zone_of_metadata(answer, &zone));
        assert_string_equal(zone, rows[i].zone);
    }
}

static void test_somebody_elses_metadata(void **state)
{
    static const char *const rows[] = {"{}", "{'compute':{'zone':'1'}}", "{'compute':'none'}",
                                       "[1]", "{'compute':{'location':'','zone':'1'}}"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *answer = json_of(rows[i]);
        char *zone;

        assert_fails(zone_of_metadata(answer, &zone), ERR_INVALID,
                     "the answer has no compute.location");
    }
}

static void test_labels(void **state)
{
    static const struct {
        const char *labels, *zone;
    } rows[] = {
        {"'topology.kubernetes.io/region':'eastus','topology.kubernetes.io/zone':'eastus-2'",
         "eastus-2"},
        {"'topology.kubernetes.io/region':'eastus','topology.kubernetes.io/zone':'0'", ""},
        {"'topology.kubernetes.io/region':'eastus','topology.kubernetes.io/zone':'eastus2-1'", ""},
        {"'topology.kubernetes.io/region':'eastus'", ""},
        {"'topology.kubernetes.io/zone':'eastus-1'", ""},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep)
        char *text = mem_printf("{'metadata':{'name':'n1','labels':{%s}}}", rows[i].labels);
        CLEANUP(kube_object_unrefp)
        struct kube_object *node = object_of(&api__node__descriptor, text);
        CLEANUP(freep) char *zone = zone_of_labels(node->metadata);

        assert_string_equal(zone, rows[i].zone);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_somebody_elses_metadata),
        cmocka_unit_test(test_labels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
