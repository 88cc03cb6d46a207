/* Which pods of a node a drain has to move, and how each of them stands. */
#include "azdiskctl/drain_pods.h"

#include "lib/base/text.h"
#include "test/unit/azdiskctl/moving_pod.h"

#define BY(owner) POD_ON("db", "a", OWNED(owner), CLAIMED("claim"), "")
#define REPLICAS PRIMARY_ON_A "," REPLICA_ON("b")
#define ON_TWO(pods, attachments) MOVING(pods, BOUND_CLAIM(""), FIT("a") "," FIT("b"), attachments)

/* clang-format off */
static const struct {
    const char *cluster;
    int state; /* -1: it is not to be moved */
    const char *to, *why;
} rows[] = {
    {ON_TWO(DB, REPLICAS), DRAIN_READY, "b", NULL},
    {ON_TWO(DB, PRIMARY_ON_A "," UNREADY_ON("b")), DRAIN_COMING, "b",
     "the replica of volume v on node b is not ready: no disk"},
    {ON_TWO(DB, PRIMARY_ON_A), DRAIN_SLOW, NULL, "volume v has no replica"},
    {MOVING(DB, BOUND_CLAIM(""), FIT("a"), PRIMARY_ON_A), DRAIN_SLOW, NULL,
     "no other node would take it at the moment"},
    {ON_TWO(POD_ON("db", "a", OWNED("ReplicaSet") ",'deletionTimestamp':'" NOW "'",
                   CLAIMED("claim"), ""), REPLICAS),
     DRAIN_LEAVING, NULL, "it is being deleted"},
    {ON_TWO(POD_ON("db", "a", "", CLAIMED("claim"), ""), REPLICAS), DRAIN_STAYS, NULL,
     "it has no controller that would make it again"},
    {ON_TWO(BY("DaemonSet"), REPLICAS), -1, NULL, NULL},
    {ON_TWO(POD_ON("db", "a", OWNED("ReplicaSet"), CLAIMED("other"), ""), REPLICAS), -1, NULL, NULL},
    {ON_TWO(POD_ON("db", "b", OWNED("ReplicaSet"), CLAIMED("claim"), ""), REPLICAS), -1, NULL, NULL},
    {"{'pods':[" DB "],'claims':[" BOUND_CLAIM("") "],'pvs':[{'metadata':{'name':'pv'},'spec':{"
     "'csi':{'driver':'other','volumeHandle':'x'}}}]}", -1, NULL, NULL},
};
/* clang-format on */

/* What drain_pods_fini frees of a cluster is cluster_read's, and there is none of it. */
static struct drain_pods found_in(const struct cluster *cluster)
{
    struct drain_pods pods = {.cluster = *cluster};

    drain_pods_find(&pods, "a");
    return pods;
}

static void test_pods(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(rows[i].cluster);
        CLEANUP(drain_pods_fini) struct drain_pods pods = found_in(&cluster);

        if (pods.n != (rows[i].state >= 0))
            fail_msg("row %zu: %zu pods", i, pods.n);
        if (pods.n == 1 && ((int)pods.facts[0].state != rows[i].state ||
                            !same_text(pods.items[0].to, rows[i].to) ||
                            !same_text(pods.items[0].why, rows[i].why)))
            fail_msg("row %zu: %d, %s, %s", i, (int)pods.facts[0].state, pods.items[0].to,
                     pods.items[0].why);
    }
}

static void test_marks(void **state)
{
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(rows[0].cluster);
    CLEANUP(drain_pods_fini) struct drain_pods pods = found_in(&cluster);
    CLEANUP(string_set_clear) struct string_set it = {0};
    CLEANUP(string_set_clear) struct string_set others = {0};

    (void)state;
    string_set_add(&it, "u-db");
    string_set_add(&others, "u-else");
    drain_pods_mark(&pods, &others, &others);
    assert_false(pods.facts[0].blocked);
    assert_int_equal(pods.facts[0].state, DRAIN_READY);
    drain_pods_mark(&pods, &it, &it);
    assert_true(pods.facts[0].blocked);
    assert_int_equal(pods.facts[0].state, DRAIN_STAYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pods),
        cmocka_unit_test(test_marks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
