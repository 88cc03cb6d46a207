/* Which taints of a Node go, and when. */
#include "node/startup_taint.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/object.h"

#define KEY "disk.csi.azure.com/agent-not-ready"

static const struct {
    const char *why, *node, *patch;
} rows[] = {
    {"no taints", "{'metadata':{'name':'n'},'spec':{}}", NULL},
    {"no spec", "{'metadata':{'name':'n'}}", NULL},
    {"other taints stay",
     "{'metadata':{'name':'n'},'spec':{'taints':[{'key':'other','effect':'NoSchedule'},"
     "{'key':'disk.csi.azure.com','effect':'NoSchedule'},"
     "{'key':'" KEY ".example.com','effect':'NoSchedule'},{'effect':'NoSchedule'}]}}",
     NULL},
    {"one among others, if it still is where it was",
     "{'metadata':{'name':'n'},'spec':{'taints':[{'key':'other','effect':'NoExecute'},"
     "{'key':'" KEY "','value':'x','effect':'NoExecute'},{'key':'third','effect':'NoSchedule'}]}}",
     "[{'op':'test','path':'/spec/taints/1/key','value':'" KEY "'},"
     "{'op':'remove','path':'/spec/taints/1'}]"},
    {"one for each effect, from the last",
     "{'metadata':{'name':'n'},'spec':{'taints':[{'key':'" KEY "','effect':'NoSchedule'},"
     "{'key':'other','effect':'NoExecute'},{'key':'" KEY "','effect':'NoExecute'}]}}",
     "[{'op':'test','path':'/spec/taints/2/key','value':'" KEY "'},"
     "{'op':'remove','path':'/spec/taints/2'},"
     "{'op':'test','path':'/spec/taints/0/key','value':'" KEY "'},"
     "{'op':'remove','path':'/spec/taints/0'}]"},
};

static void test_patch(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *object = object_of(&api__node__descriptor, rows[i].node);
        CLEANUP(json_decrefp)
        json_t *patch = startup_taint_patch(KUBE_AS(Api__Node, object)->spec, KEY);
        CLEANUP(json_decrefp) json_t *expected = rows[i].patch ? json_of(rows[i].patch) : NULL;

        if (patch != expected && !json_equal(patch, expected))
            fail_msg("%s: got %s", rows[i].why, patch ? json_dumps(patch, 0) : "no patch");
    }
}

static void test_when(void **state)
{
    static const struct {
        const char *csi_node;
        bool may_go;
    } table[] = {
        {"{'metadata':{'name':'n'}}", false},
        {"{'metadata':{'name':'n'},'spec':{'drivers':[]}}", false},
        {"{'metadata':{'name':'n'},'spec':{'drivers':[{'name':'file.csi.azure.com'}]}}", false},
        {"{'metadata':{'name':'n'},'spec':{'drivers':[{'name':'a'},"
         "{'name':'disk.csi.azure.com','nodeID':'n'}]}}",
         true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *object = object_of(&api__csinode__descriptor, table[i].csi_node);
        const Api__CSINode *csi_node = KUBE_AS(Api__CSINode, object);

        assert_int_equal(startup_taint_may_go(csi_node, "disk.csi.azure.com"), table[i].may_go);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patch),
        cmocka_unit_test(test_when),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
