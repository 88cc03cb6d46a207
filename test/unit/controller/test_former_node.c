#include "controller/former_node.h"

#include "lib/base/alloc.h"
#include "test/unit/object.h"

#define DRIVER "disk.csi.azure.com"
#define DISK "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/"

static const struct {
    const char *why;
    bool there;
    const char *in_use, *taint; /* NULL: none */
    enum former_node former;
} rows[] = {
    {"unmounted", true, NULL, NULL, FORMER_NODE_DONE},
    {"cut off, perhaps alive", true, "kubernetes.io/csi/" DRIVER "^" DISK "pvc-1", NULL,
     FORMER_NODE_USES},
    {"the same, as Azure spells it", true, "kubernetes.io/csi/" DRIVER "^" DISK "PVC-1",
     "node.kubernetes.io/unreachable", FORMER_NODE_USES},
    {"off, says an operator", true, "kubernetes.io/csi/" DRIVER "^" DISK "pvc-1",
     "node.kubernetes.io/out-of-service", FORMER_NODE_DONE},
    {"another volume", true, "kubernetes.io/csi/" DRIVER "^" DISK "pvc-11", NULL, FORMER_NODE_DONE},
    {"another driver's", true, "kubernetes.io/csi/other^" DISK "pvc-1", NULL, FORMER_NODE_DONE},
    {"deleted", false, NULL, NULL, FORMER_NODE_GONE},
};

static enum former_node ask(const char *in_use, const char *key)
{
    CLEANUP(freep) char *used = in_use ? mem_printf("'%s'", in_use) : mem_strdup("");
    CLEANUP(freep) char *taint = key ? mem_printf("{'key':'%s'}", key) : mem_strdup("");
    CLEANUP(kube_object_unrefp)
    struct kube_object *node = object_taken(
        &api__node__descriptor, mem_printf("{'metadata':{'name':'n'},'spec':{'taints':[%s]},"
                                           "'status':{'volumesInUse':[%s]}}",
                                           taint, used));

    return former_node_of(node, DRIVER, DISK "pvc-1");
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        enum former_node former = rows[i].there ? ask(rows[i].in_use, rows[i].taint)
                                                : former_node_of(NULL, DRIVER, DISK "pvc-1");

        if (former != rows[i].former)
            fail_msg("%s: %d instead of %d", rows[i].why, former, rows[i].former);
    }
}

/* Of a Node that says nothing, as it is before its first kubelet, nothing is mounted. */
static void test_empty_node(void **state)
{
    CLEANUP(kube_object_unrefp)
    struct kube_object *node = object_of(&api__node__descriptor, "{'metadata':{'name':'n'}}");

    (void)state;
    assert_int_equal(former_node_of(node, DRIVER, DISK "pvc-1"), FORMER_NODE_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table),
                                       cmocka_unit_test(test_empty_node)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
