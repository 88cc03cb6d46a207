/* What of a cluster is read, and what a cluster without the driver answers. */
#include "azdiskctl/cluster.h"

#include "test/unit/expect.h"
#include "test/unit/lib/kube/script.h"

#define NO_SUCH_KIND "404 page not found"
#define OF_GROUP "/apis/disk.csi.azure.com/v1beta2/namespaces/azure-disk-csi/"

struct reading {
    struct kube *kube;
    struct err *err;
};

static void read_task(struct task *self, void *arg)
{
    struct reading *reading = arg;
    const struct cluster_query query = {.driver_name = "disk.csi.azure.com",
                                        .object_namespace = "azure-disk-csi"};
    CLEANUP(cluster_fini) struct cluster cluster = {0};

    reading->err = cluster_read(self, reading->kube, &query, &cluster);
}

static void test_without_the_driver(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER("GET " OF_GROUP "azvolumes?*", 404, NO_SUCH_KIND)};
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct script script;

    (void)state;
    script_init(&script, loop, steps, COUNT_OF(steps));
    struct reading reading = {.kube = script_client(&script, NULL)};
    loop_spawn(loop, "read", read_task, &reading);
    loop_run(loop);
    assert_fails(reading.err, ERR_UNAVAILABLE,
                 "the driver is not installed in this cluster, which does not know "
                 "azvolumes.disk.csi.azure.com (for another cluster see --context): GET " OF_GROUP
                 "azvolumes?limit=500: \"404 page not found\" (HTTP 404)");
    kube_free(reading.kube);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_the_driver)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
