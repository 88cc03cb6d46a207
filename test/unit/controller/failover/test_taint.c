/* The taint of nodes that were given up, and who set it. */
#include "controller/failover/taint.h"

#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "test/unit/expect.h"
#include "test/unit/object.h"

#define OUT_OF_SERVICE "'key':'node.kubernetes.io/out-of-service'"
#define OURS "{" OUT_OF_SERVICE ",'value':'azuredisk-b','effect':'NoExecute'}"
#define STAND_IN "{" OUT_OF_SERVICE ",'value':'azuredisk-deleted-b','effect':'NoExecute'}"
#define MOVED "{'key':'disk.csi.azure.com/failed-over','value':'b','effect':'NoSchedule'}"
#define MOVED_BEFORE "{'key':'disk.csi.azure.com/failed-over','value':'a','effect':'NoSchedule'}"
#define OTHER "{'key':'other','effect':'NoSchedule'}"
#define NODE(spec)                                                                                 \
    "{'metadata':{'name':'n','resourceVersion':'7'},'spec':{" spec                                 \
    "},'status':{'nodeInfo':{'bootID':'b'}}}"
#define TEST "{'op':'test','path':'/metadata/resourceVersion','value':'7'}"

typedef json_t *patch_fn(const struct kube_object *node);

static const struct {
    const char *why, *node;
    patch_fn *fn;
    const char *patch;
} patches[] = {
    {"the first taint", NODE(""), failover_taint_patch,
     "[" TEST ",{'op':'add','path':'/spec/taints','value':[" OURS "]}]"},
    {"one more", NODE("'taints':[" OTHER "]"), failover_taint_patch,
     "[" TEST ",{'op':'add','path':'/spec/taints/-','value':" OURS "}]"},
    {"the first one of new pods", NODE(""), failover_moved_patch,
     "[" TEST ",{'op':'add','path':'/spec/taints','value':[" MOVED "]}]"},
    {"in place of that of a boot before", NODE("'taints':[" OTHER "," MOVED_BEFORE "]"),
     failover_moved_patch, "[" TEST ",{'op':'replace','path':'/spec/taints/1','value':" MOVED "}]"},
    {"both go", NODE("'taints':[" MOVED "," OTHER "," OURS "]"), failover_untaint_patch,
     "[" TEST ",{'op':'remove','path':'/spec/taints/2'},{'op':'remove','path':'/spec/taints/0'}]"},
    {"one of three goes", NODE("'taints':[" OTHER "," OURS "," OTHER "]"), failover_untaint_patch,
     "[" TEST ",{'op':'remove','path':'/spec/taints/1'}]"},
    {"somebody else's stays",
     NODE("'taints':[{" OUT_OF_SERVICE ",'value':'nodeshutdown'}," OURS "]"),
     failover_untaint_patch, "[" TEST ",{'op':'remove','path':'/spec/taints/1'}]"},
    {"a stand-in's goes", NODE("'taints':[" STAND_IN "]"), failover_untaint_patch,
     "[" TEST ",{'op':'remove','path':'/spec/taints/0'}]"},
};

static const struct {
    const char *spec, *boot_id;
    bool stand_in;
    const char *moved;
} owners[] = {
    {NODE(""), NULL, false, NULL},
    {NODE("'taints':[" OTHER "]"), NULL, false, NULL},
    {NODE("'taints':[{" OUT_OF_SERVICE "}]"), NULL, false, NULL},
    {NODE("'taints':[{" OUT_OF_SERVICE ",'value':'nodeshutdown'}]"), NULL, false, NULL},
    {NODE("'taints':[{'key':'other','value':'azuredisk-b'}]"), NULL, false, NULL},
    {NODE("'taints':[" OTHER "," OURS "]"), "b", false, NULL},
    {NODE("'taints':[" OTHER "," STAND_IN "]"), "b", true, NULL},
    {NODE("'taints':[" OTHER "," MOVED_BEFORE "]"), NULL, false, "a"},
    {NODE("'taints':[" OURS "," MOVED "]"), "b", false, "b"},
};

static void test_patches(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(patches); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *node = object_of(&api__node__descriptor, patches[i].node);
        CLEANUP(json_decrefp) json_t *patch = patches[i].fn(node);
        CLEANUP(json_decrefp) json_t *expected = json_of(patches[i].patch);

        if (!json_equal(patch, expected))
            fail_msg("%s: got %s", patches[i].why, json_dumps(patch, 0));
    }
}

static void test_owner(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(owners); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *node = object_of(&api__node__descriptor, owners[i].spec);
        const char *boot_id = failover_taint_boot_id(KUBE_AS(Api__Node, node));

        if (failover_taint_is_stand_in(KUBE_AS(Api__Node, node)) != owners[i].stand_in)
            fail_msg("%s: %s", owners[i].spec, owners[i].stand_in ? "no stand-in" : "a stand-in");
        if (!same_text(boot_id, owners[i].boot_id))
            fail_msg("%s: %s", owners[i].spec, boot_id ? boot_id : "nobody's");
        if (!same_text(failover_taint_moved_boot_id(KUBE_AS(Api__Node, node)), owners[i].moved))
            fail_msg("%s: pods were moved, or were not", owners[i].spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_patches),
                                       cmocka_unit_test(test_owner)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
