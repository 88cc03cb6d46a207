/* Where pod db could go: each row is what is on node b, and what that comes to. */
#include "azdiskctl/landing.h"

#include "lib/base/text.h"
#include "test/unit/azdiskctl/moving_pod.h"

#define ON_B(node_b, attachments)                                                                  \
    MOVING(DB, BOUND_CLAIM(""), FIT("a") "," node_b, PRIMARY_ON_A "," attachments)
#define SPEC(text) FIT_NODE("b", "eastus-1", "'spec':{" text "},")
#define TAINT(effect) "'taints':[{'key':'k','value':'v','effect':'" effect "'}]"
#define PICKY(spec)                                                                                \
    MOVING(POD_ON("db", "a", OWNED("StatefulSet"), CLAIMED("claim"), spec), BOUND_CLAIM(""),       \
           FIT("a") "," SPEC(TAINT("NoSchedule")), PRIMARY_ON_A "," REPLICA_ON("b"))
#define TOLERATES ",'tolerations':[{'operator':'Exists'}]"

/* clang-format off */
static const struct {
    const char *cluster;
    enum landing_state state;
    const char *why;
} rows[] = {
    {ON_B(FIT("b"), REPLICA_ON("b")), LANDING_READY, NULL},
    {ON_B(SPEC(TAINT("PreferNoSchedule")), REPLICA_ON("b")), LANDING_READY, NULL},
    {ON_B(FIT("b"), UNREADY_ON("b")), LANDING_COMING,
     "the replica of volume v on node b is not ready: no disk"},
    {ON_B(FIT("b"), ATTACHMENT("v", "b", "Replica", "Replica", "Attaching", "1", "")),
     LANDING_COMING, "the attachment of volume v to node b is attaching"},
    {ON_B(FIT("b"), ATTACHMENT("v", "b", "Replica", "Replica", "AttachmentFailed", "1", "")),
     LANDING_COMING, "the attachment of volume v to node b is failed"},
    {ON_B(FIT("b"), REPLICA_ON("c")), LANDING_NO_REPLICA,
     "volume v has no replica on node b, but on c"},
    {ON_B(FIT("b"), REPLICA_ON("c") "," UNREADY_ON("d")), LANDING_NO_REPLICA,
     "volume v has no replica on node b, but on c, d"},
    {MOVING(DB, BOUND_CLAIM(""), FIT("a") "," FIT("b"), PRIMARY_ON_A), LANDING_NO_REPLICA,
     "volume v has no replica"},
    {ON_B(FIT_NODE("b", "eastus-2", ""), REPLICA_ON("b")), LANDING_UNFIT,
     "volume v is in zone eastus-1, and Node b in zone eastus-2"},
    {ON_B(FIT("x"), REPLICA_ON("b")), LANDING_UNFIT, "there is no Node b"},
    {ON_B(NODE("b", "False", ""), REPLICA_ON("b")), LANDING_UNFIT, "Node b is not Ready"},
    {ON_B(SPEC("'unschedulable':true"), REPLICA_ON("b")), LANDING_UNFIT, "Node b is cordoned"},
    {ON_B(SPEC(TAINT("NoSchedule")), REPLICA_ON("b")), LANDING_UNFIT,
     "the pod does not tolerate the taint k of Node b"},
    {PICKY(TOLERATES), LANDING_READY, NULL},
    {PICKY(TOLERATES ",'nodeSelector':{'disk':'fast'}"), LANDING_UNFIT,
     "Node b does not match the pod's nodeSelector or node affinity"},
    {PICKY(TOLERATES ",'nodeSelector':{'topology.disk.csi.azure.com/zone':'eastus-1'}"),
     LANDING_READY, NULL},
    {PICKY(TOLERATES ",'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
           "{'nodeSelectorTerms':[{'matchExpressions':[{'key':'x','operator':'Exists'}]}]}}}"),
     LANDING_UNFIT, "Node b does not match the pod's nodeSelector or node affinity"},
    {"{'pods':[" POD_ON("db", "a", "", CLAIMED("claim") "," CLAIMED("local"), "") "],'claims':["
     BOUND_CLAIM("") ",{'metadata':{'name':'local','namespace':'default'},'spec':{"
     "'volumeName':'disk'}}],'pvs':[" PV("pv", "v") ",{'metadata':{'name':'disk'},'spec':{"
     "'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'x',"
     "'operator':'Exists'}]}]}}}}],'volumes':[" VOLUME("v", "1") "],'nodes':[" FIT("b")
     "],'driverNodes':[" PLUGIN("b", "true", NOW) "],'attachments':[" REPLICA_ON("b") "]}",
     LANDING_UNFIT, "PersistentVolume disk cannot be used on Node b (its nodeAffinity)"},
    {"{'pods':[" DB "],'claims':[" BOUND_CLAIM("") "],'pvs':[" PV("pv", "v") "],"
     "'nodes':[" FIT("b") "],'driverNodes':[" PLUGIN("b", "true", "2026-01-01T00:50:00Z") "]}",
     LANDING_UNFIT, "the node plug-in of b is not ready, or has been silent for too long"},
    {"{'pods':[" DB "],'claims':[" BOUND_CLAIM("") "],'pvs':[" PV("pv", "v") "],"
     "'nodes':[" FIT("b") "],'driverNodes':[" PLUGIN("b", "true", NOW) "]}",
     LANDING_NO_REPLICA, "there is no AzVolume of PersistentVolume pv yet"},
};
/* clang-format on */

static void test_landings(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(rows[i].cluster);
        CLEANUP(dependency_chains_fini) struct dependency_chains chains = {0};

        dependency_chains_of_pod(&cluster, cluster.pods.items[0], &chains);
        struct landing landing = landing_on(&cluster, &chains, "b");
        CLEANUP(freep) char *why = landing.why;
        if (landing.state != rows[i].state || !same_text(why, rows[i].why))
            fail_msg("row %zu: expected %d, %s\nfound %d, %s", i, (int)rows[i].state, rows[i].why,
                     (int)landing.state, why);
    }
}

/* ---- the best ---- */

#define THREE FIT("c") "," FIT("b") "," FIT("a")

static const struct {
    const char *attachments, *best;
    enum landing_state state;
} choices[] = {
    {REPLICA_ON("b") "," REPLICA_ON("c"), "b", LANDING_READY},
    {REPLICA_ON("b") "," REPLICA_ON("c") "," ATTACHED("w", "b", "Primary", "0"), "c",
     LANDING_READY},
    {UNREADY_ON("b") "," REPLICA_ON("c"), "c", LANDING_READY},
    {UNREADY_ON("c"), "c", LANDING_COMING},
    {PRIMARY_ON_A, "b", LANDING_NO_REPLICA},
};

static void test_the_best(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(choices); i++) {
        CLEANUP(freep)
        char *text = mem_printf(MOVING(DB, BOUND_CLAIM(""), THREE, PRIMARY_ON_A ",%s"),
                                choices[i].attachments);
        CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(text);
        CLEANUP(dependency_chains_fini) struct dependency_chains chains = {0};
        enum landing_state found;

        dependency_chains_of_pod(&cluster, cluster.pods.items[0], &chains);
        const char *best = landing_best(&cluster, &chains, "a", &found);
        if (found != choices[i].state || !same_text(best, choices[i].best))
            fail_msg("row %zu: %s, %d", i, best, (int)found);
    }
}

static void test_no_node_but_its_own(void **state)
{
    CLEANUP(cluster_of_free)
    struct cluster cluster = cluster_of(MOVING(DB, BOUND_CLAIM(""), FIT("a"), PRIMARY_ON_A));
    CLEANUP(dependency_chains_fini) struct dependency_chains chains = {0};
    enum landing_state found;

    (void)state;
    dependency_chains_of_pod(&cluster, cluster.pods.items[0], &chains);
    assert_null(landing_best(&cluster, &chains, "a", &found));
    assert_int_equal(found, LANDING_UNFIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_landings),
        cmocka_unit_test(test_the_best),
        cmocka_unit_test(test_no_node_but_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
