/* The pod of a claim, and each reason for which it cannot be moved. */
#include "azdiskctl/failover_subject.h"

#include "test/unit/azdiskctl/moving_pod.h"

#define OF(pods, claim) MOVING(pods, claim, FIT("a"), PRIMARY_ON_A)
#define WISH(time) ",'annotations':{'disk.csi.azure.com/switchover-to':'b " time "'}"
#define WITH(metadata) POD_ON("db", "a", metadata, CLAIMED("claim"), "")
#define ENDED                                                                                      \
    "{'metadata':{'name':'job','namespace':'default'},'spec':{'volumes':[" CLAIMED(                \
        "claim") "]},'status':{'phase':'Succeeded'}}"

/* clang-format off */
static const struct {
    const char *cluster;
    enum err_kind kind;
    const char *message; /* its beginning; NULL: it can be moved */
} rows[] = {
    {OF(DB, BOUND_CLAIM("")), 0, NULL},
    {OF(DB "," ENDED, BOUND_CLAIM("")), 0, NULL},
    {OF(DB, BOUND_CLAIM(WISH("2026-01-01T00:59:00Z"))), 0, NULL},
    {OF(DB, BOUND_CLAIM(WISH("2026-01-01T01:01:00Z"))), ERR_PRECONDITION,
     "claim default/claim is being switched over to node b already"},
    {OF(DB, ""), ERR_NOT_FOUND, "claim default/claim does not exist"},
    {OF(DB, "{'metadata':{'name':'claim','namespace':'default'}}"), ERR_PRECONDITION,
     "claim default/claim is not bound to a volume"},
    {"{'claims':[" BOUND_CLAIM("") "],'pvs':[{'metadata':{'name':'pv'},'spec':{'csi':{"
     "'driver':'other','volumeHandle':'x'}}}]}",
     ERR_PRECONDITION, "claim default/claim is of a volume of another driver than " DRIVER},
    {OF(ENDED, BOUND_CLAIM("")), ERR_PRECONDITION, "no pod uses claim default/claim"},
    {OF(DB "," POD_ON("db2", "a", "", CLAIMED("claim"), ""), BOUND_CLAIM("")), ERR_PRECONDITION,
     "2 pods use claim default/claim"},
    {OF(WITH(",'deletionTimestamp':'" NOW "'" OWNED("StatefulSet")), BOUND_CLAIM("")),
     ERR_PRECONDITION, "pod default/db is being deleted already"},
    {OF(POD_ON("db", "", OWNED("StatefulSet"), CLAIMED("claim"), ""), BOUND_CLAIM("")),
     ERR_PRECONDITION, "pod default/db is not on a node: see azdiskctl why pod/db"},
    {OF(WITH(OWNED("DaemonSet")), BOUND_CLAIM("")), ERR_PRECONDITION,
     "pod default/db belongs to its node"},
    {OF(WITH(OWNED("Node")), BOUND_CLAIM("")), ERR_PRECONDITION,
     "pod default/db belongs to its node"},
    {OF(WITH(OWNED("StatefulSet") ",'annotations':{'kubernetes.io/config.mirror':'x'}"),
        BOUND_CLAIM("")),
     ERR_PRECONDITION, "pod default/db belongs to its node"},
    {OF(WITH(""), BOUND_CLAIM("")), ERR_PRECONDITION,
     "pod default/db has no controller that would make it again"},
    {OF(WITH(",'ownerReferences':[{'kind':'StatefulSet','name':'o','uid':'1'}]"), BOUND_CLAIM("")),
     ERR_PRECONDITION, "pod default/db has no controller that would make it again"},
    {"{'pods':[" DB "],'claims':[" BOUND_CLAIM("") "],'pvs':[" PV("pv", "v") "],'volumes':["
     VOLUME("v", "5") "],'nodes':[" FIT("a") "]}",
     ERR_PRECONDITION, "volume v can be used on several nodes at once"},
    {MOVING(DB, BOUND_CLAIM(""), NODE("a", "Unknown", ""), PRIMARY_ON_A), ERR_PRECONDITION,
     "Node a is not Ready, so that pod default/db could not be ended in good order"},
    {MOVING(DB, BOUND_CLAIM(""), FIT("b"), PRIMARY_ON_A), ERR_PRECONDITION,
     "Node a is not Ready, so that pod default/db could not be ended in good order"},
};
/* clang-format on */

static void test_subjects(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(rows[i].cluster);
        CLEANUP(dependency_chains_fini) struct dependency_chains chains = {0};
        CLEANUP(err_freep)
        struct err *err = failover_subject(&cluster, "default/claim", &chains);

        if (!err != !rows[i].message)
            fail_msg("row %zu: %s", i, err ? err_message(err) : "no error");
        if (!err)
            assert_string_equal(chains.items[0].pod->key, "default/db");
        else if (err_kind(err) != rows[i].kind ||
                 strncmp(err_message(err), rows[i].message, strlen(rows[i].message)) != 0)
            fail_msg("row %zu: %d, %s", i, (int)err_kind(err), err_message(err));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_subjects)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
