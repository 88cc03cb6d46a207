/* The Node that takes the place of one that was deleted. */
#include "controller/failover/stand_in.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/object.h"

#define STATUS "'status':{'nodeInfo':{'bootID':'b'},'volumesInUse':['x']}"
#define OURS                                                                                       \
    "{'key':'node.kubernetes.io/"                                                                  \
    "out-of-service','value':'azuredisk-deleted-b','effect':'NoExecute'}"
#define UNINITIALIZED                                                                              \
    "{'key':'node.cloudprovider.kubernetes.io/"                                                    \
    "uninitialized','value':'true','effect':'NoSchedule'}"

static const struct {
    const char *why, *node, *stand_in;
} rows[] = {
    {"as little as a Node can be", "{'metadata':{'name':'n'}," STATUS "}",
     "{'metadata':{'name':'n','labels':{}},'spec':{'taints':[" OURS "]}}"},
    {"what kubelet sets only when it makes one stays",
     "{'metadata':{'name':'n','uid':'u','resourceVersion':'7','labels':{'pool':'db','a':''},"
     "'annotations':{'volumes.kubernetes.io/controller-managed-attach-detach':'true'},"
     "'finalizers':['f']},"
     "'spec':{'unschedulable':true,'taints':[{'key':'dedicated','value':'db','effect':'NoSchedule'}"
     "]}," STATUS "}",
     "{'metadata':{'name':'n','labels':{'pool':'db','a':''}},'spec':{'taints':["
     "{'key':'dedicated','value':'db','effect':'NoSchedule'}," OURS "]}}"},
    {"of what Kubernetes says of its condition nothing does",
     "{'metadata':{'name':'n'},'spec':{'taints':["
     "{'key':'node.kubernetes.io/unreachable','effect':'NoExecute'},"
     "{'key':'node.kubernetes.io/out-of-service','value':'a','effect':'NoExecute'}]}," STATUS "}",
     "{'metadata':{'name':'n','labels':{}},'spec':{'taints':[" OURS "]}}"},
    {"the cloud is asked what the machine of that name is now",
     "{'metadata':{'name':'n'},'spec':{'providerID':'azure:///vm','taints':[" UNINITIALIZED
     "]}," STATUS "}",
     "{'metadata':{'name':'n','labels':{}},'spec':{'taints':[" UNINITIALIZED "," OURS "]}}"},
};

static void test_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *node = object_of(&api__node__descriptor, rows[i].node);
        CLEANUP(json_decrefp) json_t *stand_in = stand_in_json(node);
        CLEANUP(json_decrefp) json_t *expected = json_of(rows[i].stand_in);

        if (!json_equal(stand_in, expected))
            fail_msg("%s: got %s", rows[i].why, json_dumps(stand_in, 0));
    }
}

static void test_registered(void **state)
{
    (void)state;
    CLEANUP(kube_object_unrefp)
    struct kube_object *node =
        object_of(&api__node__descriptor, "{'metadata':{'name':'n','annotations':{'a':'b'}}}");
    CLEANUP(kube_object_unrefp)
    struct kube_object *registered =
        object_of(&api__node__descriptor,
                  "{'metadata':{'name':'n','annotations':{"
                  "'volumes.kubernetes.io/controller-managed-attach-detach':'true'}}}");

    assert_false(stand_in_is_registered(node));
    assert_true(stand_in_is_registered(registered));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_json),
                                       cmocka_unit_test(test_registered)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
