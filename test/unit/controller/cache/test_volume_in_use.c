#include "controller/cache/volume_in_use.h"

#include "lib/base/alloc.h"
#include "test/unit/object.h"

#define DRIVER "disk.csi.azure.com"
#define DISK "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/"
#define JOB "e2fsck 2026-01-01T00:00:00Z 5d1b2e0c-6c1f-4a31-9d6b-0d3a3b5a7f10"

static const struct {
    const char *why;
    bool there;
    const char *in_use, *taint; /* NULL: none */
    enum volume_in_use former;
    const char *job; /* on record, likewise */
} rows[] = {
    {"unmounted", true, NULL, NULL, VOLUME_NOT_IN_USE, NULL},
    {"cut off, perhaps alive", true, "kubernetes.io/csi/" DRIVER "^" DISK "pvc-1", NULL,
     VOLUME_IN_USE_MOUNTED, NULL},
    {"the same, as Azure spells it", true, "kubernetes.io/csi/" DRIVER "^" DISK "PVC-1",
     "node.kubernetes.io/unreachable", VOLUME_IN_USE_MOUNTED, NULL},
    {"off, says an operator", true, "kubernetes.io/csi/" DRIVER "^" DISK "pvc-1",
     "node.kubernetes.io/out-of-service", VOLUME_NOT_IN_USE, NULL},
    {"another volume", true, "kubernetes.io/csi/" DRIVER "^" DISK "pvc-11", NULL, VOLUME_NOT_IN_USE,
     NULL},
    {"another driver's", true, "kubernetes.io/csi/other^" DISK "pvc-1", NULL, VOLUME_NOT_IN_USE,
     NULL},
    {"deleted", false, NULL, NULL, VOLUME_IN_USE_NO_NODE, NULL},
    {"unmounted, but fsck runs", true, NULL, NULL, VOLUME_IN_USE_JOB, JOB},
    {"both", true, "kubernetes.io/csi/" DRIVER "^" DISK "pvc-1", NULL, VOLUME_IN_USE_MOUNTED, JOB},
    {"fsck ran when it went off, says an operator", true, NULL, "node.kubernetes.io/out-of-service",
     VOLUME_NOT_IN_USE, JOB},
    {"deleted while fsck ran", false, NULL, NULL, VOLUME_IN_USE_NO_NODE, JOB},
};

static struct kube_object *attachment_of(const char *job)
{
    CLEANUP(freep)
    char *annotation =
        job ? mem_printf("'disk.csi.azure.com/running-job':'%s'", job) : mem_strdup("");

    return object_taken(
        &api__az_volume_attachment__descriptor,
        mem_printf("{'metadata':{'name':'a'},'status':{'annotation':{%s}}}", annotation));
}

static enum volume_in_use ask(const char *in_use, const char *key, const char *job)
{
    CLEANUP(kube_object_unrefp) struct kube_object *attachment = attachment_of(job);

    CLEANUP(freep) char *used = in_use ? mem_printf("'%s'", in_use) : mem_strdup("");
    CLEANUP(freep) char *taint = key ? mem_printf("{'key':'%s'}", key) : mem_strdup("");
    CLEANUP(kube_object_unrefp)
    struct kube_object *node = object_taken(
        &api__node__descriptor, mem_printf("{'metadata':{'name':'n'},'spec':{'taints':[%s]},"
                                           "'status':{'volumesInUse':[%s]}}",
                                           taint, used));

    return volume_in_use_of(node, attachment, DRIVER, DISK "pvc-1");
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *attachment = attachment_of(rows[i].job);
        enum volume_in_use former = rows[i].there
                                        ? ask(rows[i].in_use, rows[i].taint, rows[i].job)
                                        : volume_in_use_of(NULL, attachment, DRIVER, DISK "pvc-1");

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
    assert_int_equal(volume_in_use_of(node, NULL, DRIVER, DISK "pvc-1"), VOLUME_NOT_IN_USE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table),
                                       cmocka_unit_test(test_empty_node)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
