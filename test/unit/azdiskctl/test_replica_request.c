/* Whether replicas of a pod's volumes may be asked for on node b: each row is what is on record. */
#include "azdiskctl/replica_request.h"

#include "test/unit/azdiskctl/moving_pod.h"

#define SLOTS(free)                                                                                \
    "'driverNodes':[{'metadata':{'name':'b'},'status':{'slots':{'limit':8,'free':" free "}}}]"
#define WITH(volume, attachments, slots)                                                           \
    "{'pods':[" DB "],'claims':[" BOUND_CLAIM("") "],'pvs':[" PV(                                  \
        "pv", "v") "],'volumes':[" volume "],'attachments':[" attachments "]," slots "}"
#define VOLUME_OF(parameters, status)                                                              \
    "{'metadata':{'name':'v'},'spec':{'volumeName':'v','maxMountReplicaCount':2,'parameters':"     \
    "{" parameters "},'volumeCapability':[{'access_mode':1}]},'status':{" status "}}"
#define CREATED "'state':'Created','detail':{'volume_id':'" GROUP_DISKS "v'}"
#define SHARED VOLUME_OF("'maxShares':'3'", CREATED)

/* clang-format off */
static const struct {
    const char *cluster;
    const char *message; /* its beginning; NULL: they may */
} rows[] = {
    {WITH(SHARED, PRIMARY_ON_A, SLOTS("1")), NULL},
    {WITH(SHARED, PRIMARY_ON_A, "'nodes':[]"), NULL},
    {WITH(SHARED, PRIMARY_ON_A, SLOTS("0")), "node b has 0 free disk slots, and 1 replicas lack there"},
    {WITH(SHARED, PRIMARY_ON_A "," UNREADY_ON("b"), SLOTS("0")), NULL},
    {WITH(VOLUME_OF("'maxShares':'1'", CREATED), PRIMARY_ON_A, SLOTS("1")),
     "volume v has no replicas: its disk has one share"},
    {WITH(VOLUME_OF("'maxShares':'3'", CREATED ",'completionPercent':40"), PRIMARY_ON_A, SLOTS("1")),
     "volume v gets replicas when all data has been copied to its disk (40 %)"},
    {WITH(VOLUME_OF("'maxShares':'3'", ""), "", SLOTS("1")),
     "there is no AzVolume of PersistentVolume pv yet"},
};
/* clang-format on */

static void test_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(rows[i].cluster);
        CLEANUP(dependency_chains_fini) struct dependency_chains chains = {0};

        dependency_chains_of_pod(&cluster, cluster.pods.items[0], &chains);
        CLEANUP(err_freep) struct err *err = replica_request_check(&cluster, &chains, "b");
        if (!err != !rows[i].message ||
            (err && strncmp(err_message(err), rows[i].message, strlen(rows[i].message)) != 0))
            fail_msg("row %zu: %s", i, err ? err_message(err) : "no error");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_requests)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
