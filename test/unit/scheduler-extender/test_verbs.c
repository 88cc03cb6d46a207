/* A small cluster, written down as data; then every row is a pod's volumes, the scores of nodes a
 * to f for it, and which of them may take it. A new rule is a new row. */
#include "scheduler-extender/verbs.h"

#include "lib/base/alloc.h"
#include "lib/json/codec.h"
#include "lib/json/parse.h"
#include "scheduler-extender/digest.h"
#include "test/unit/expect.h"
#include "test/unit/scheduler-extender/cluster.h"

/* ---- the cluster ---- */

#define OBJECT(namespace, name, more)                                                              \
    "{\"metadata\":{\"namespace\":\"" namespace "\",\"name\":\"" name                              \
                                                "\",\"uid\":\"u\",\"resourceVersion\":\"5\","      \
                                                "\"labels\":{\"a\":\"b\"}}," more "}"
#define CLAIM(name, volume, mode)                                                                  \
    OBJECT("shop", name, "\"spec\":{\"volumeName\":\"" volume "\",\"accessModes\":[\"" mode "\"]}")
#define VOLUME(name, driver, handle, claim, more)                                                  \
    "{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"5\"},\"spec\":{\"csi\":{"          \
    "\"driver\":\"" driver "\",\"volumeHandle\":\"" handle                                         \
    "\"},\"claimRef\":{\"namespace\":\"shop\",\"name\":\"" claim "\"" more "}}}"
#define OURS(name, handle, claim) VOLUME(name, "disk.csi.azure.com", handle, claim, "")
#define OF_UID(uid) ",\"uid\":\"" uid "\""
#define ATTACHMENT(disk, node, state, detail)                                                      \
    OBJECT("azure-disk-csi", disk "-" node "-attachment",                                          \
           "\"spec\":{\"volumeName\":\"" disk "\",\"volume_id\":\"/disks/" disk                    \
           "\",\"nodeName\":\"" node "\",\"role\":\"Replica\"},\"status\":{" detail                \
           "\"state\":\"" state "\"}")
#define ATTACHED(disk, node) ATTACHMENT(disk, node, "Attached", "")
#define WITH_LUN "\"detail\":{\"role\":\"Replica\",\"publish_context\":{\"LUN\":\"3\"}},"
#define NOTED(note)                                                                                \
    "\"detail\":{\"role\":\"Replica\"},\"annotation\":{\"disk.csi.azure.com/"                      \
    "replica-ready\":\"" note "\",\"disk.csi.azure.com/vm-id\":\"/vm\"},"
#define PLUGIN(node, heartbeat, ready)                                                             \
    OBJECT("azure-disk-csi", node,                                                                 \
           "\"spec\":{\"nodeName\":\"" node "\"},\"status\":{\"lastHeartbeatTime\":\"" heartbeat   \
           "\",\"readyForVolumeAllocation\":" ready "}")

/* The disk of claim one, which a switchover asks to have on a node. */
#define SWITCHED(name, wish)                                                                       \
    "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"" name                                       \
    "\",\"resourceVersion\":\"5\",\"annotations\":{\"a\":\"b\",\"disk.csi.azure.com/"              \
    "switchover-to\":\"" wish "\"}},\"spec\":{\"volumeName\":\"pv-" name                           \
    "\",\"accessModes\":[\"ReadWriteOnce\"]}}"

static const char *const claims[] = {
    SWITCHED("to-b", "b 2026-01-01T00:10:00Z"),
    SWITCHED("to-b-once", "b 2025-12-31T23:59:59Z"),
    SWITCHED("to-b-for-ever", "b 2026-01-01T01:10:00Z"),
    SWITCHED("to-c", "c 2026-01-01T00:10:00Z"),
    CLAIM("one", "pv1", "ReadWriteOnce"),
    CLAIM("two", "pv2", "ReadWriteOncePod"),
    CLAIM("three", "pv3", "ReadWriteOnce"),
    CLAIM("lonely", "pv4", "ReadWriteOnce"),
    CLAIM("shared", "pv5", "ReadWriteMany"),
    CLAIM("reading", "pv-reading", "ReadOnlyMany"),
    CLAIM("foreign", "pv6", "ReadWriteOnce"),
    CLAIM("broken", "pv7", "ReadWriteOnce"),
    CLAIM("on-d", "pv8", "ReadWriteOnce"),
    CLAIM("dead", "pv9", "ReadWriteOnce"),
    CLAIM("half-dead", "pv10", "ReadWriteOnce"),
    CLAIM("files", "nfs", "ReadWriteOnce"),
    CLAIM("db-scratch", "pv-scratch", "ReadWriteOnce"),
    CLAIM("strangers", "pv1", "ReadWriteOnce"),
    CLAIM("of-that-name", "pv-of-that-name", "ReadWriteOnce"),
    CLAIM("of-nobody", "pv-of-nobody", "ReadWriteOnce"),
    OBJECT("elsewhere", "two", "\"spec\":{\"volumeName\":\"pv2\"}"),
    OBJECT("shop", "unbound", "\"spec\":{\"accessModes\":[\"ReadWriteOnce\"]}"),
    NULL,
};

static const char *const volumes[] = {
    VOLUME("pv1", "disk.csi.azure.com", "/Disks/ONE", "one", OF_UID("u")),
    OURS("pv-to-b", "/disks/one", "to-b"),
    OURS("pv-to-b-once", "/disks/one", "to-b-once"),
    OURS("pv-to-b-for-ever", "/disks/one", "to-b-for-ever"),
    OURS("pv-to-c", "/disks/one", "to-c"),
    OURS("pv-scratch", "/disks/one", "db-scratch"),
    OURS("pv2", "/disks/two", "two"),
    OURS("pv3", "/disks/three", "three"),
    OURS("pv4", "/disks/lonely", "lonely"),
    OURS("pv5", "/disks/shared", "shared"),
    OURS("pv-reading", "/disks/shared", "reading"),
    VOLUME("pv6", "ebs.csi.aws.com", "/disks/one", "foreign", ""),
    OURS("pv7", "/disks/broken", "broken"),
    OURS("pv8", "/disks/on-d", "on-d"),
    OURS("pv9", "/disks/dead", "dead"),
    OURS("pv10", "/disks/half-dead", "half-dead"),
    VOLUME("pv-of-that-name", "disk.csi.azure.com", "/disks/one", "of-that-name", OF_UID("v")),
    "{\"metadata\":{\"name\":\"pv-of-nobody\",\"resourceVersion\":\"5\"},\"spec\":{\"csi\":{"
    "\"driver\":\"disk.csi.azure.com\",\"volumeHandle\":\"/disks/one\"}}}",
    "{\"metadata\":{\"name\":\"nfs\",\"resourceVersion\":\"5\"},\"spec\":{\"nfs\":{}}}",
    NULL,
};

static const char *const attachments[] = {
    ATTACHED("one", "a"),
    ATTACHED("one", "b"),
    ATTACHED("two", "a"),
    ATTACHED("two", "b"),
    ATTACHED("Three", "a"),
    ATTACHED("shared", "a"),
    ATTACHED("on-d", "d"),
    ATTACHMENT("three", "c", "Attaching", ""),
    ATTACHMENT("broken", "a", "AttachmentFailed", WITH_LUN),
    ATTACHMENT("broken", "b", "Pending", WITH_LUN),
    ATTACHMENT("broken", "c", "Pending", ""),
    ATTACHMENT("dead", "a", "Attached", NOTED("false 2026-01-01T00:00:00Z no disk at LUN 3")),
    ATTACHMENT("half-dead", "a", "Attached", NOTED("false 2026-01-01T00:00:00Z no disk at LUN 3")),
    ATTACHMENT("half-dead", "b", "Attached", NOTED("true 2026-01-01T00:00:00Z")),
    ATTACHED("half-dead", "c"),
    NULL,
};

/* Time begins with 2026. Of node f nothing was ever heard. */
static const char *const driver_nodes[] = {
    PLUGIN("a", "2026-01-01T00:00:00Z", "true"),  PLUGIN("b", "2026-01-01T00:00:00Z", "true"),
    PLUGIN("c", "2026-01-01T00:00:00Z", "true"),  PLUGIN("d", "2025-12-31T23:00:00Z", "true"),
    PLUGIN("e", "2026-01-01T00:00:00Z", "false"), NULL,
};

static const struct cluster_objects objects = {claims, volumes, attachments, driver_nodes};

/* ---- pods ---- */

#define PVC(claim) "{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"" claim "\"}}"

static const char *const asked[] = {"a", "b", "c", "d", "e", "f"};
enum { N_ASKED = COUNT_OF(asked) };

static const struct {
    const char *why, *volumes;
    unsigned scores[N_ASKED];
    const char *allowed; /* a "+" or "-" for each node */
} rows[] = {
    {"three disks: a has all, b two, c half of one",
     PVC("one") "," PVC("two") "," PVC("three"),
     {10, 7, 2, 0, 0, 0},
     "++++-+"},
    {"one disk, whatever the case of its id", PVC("one"), {10, 10, 1, 0, 0, 0}, "++++-+"},
    {"a claim named twice is one disk",
     PVC("one") "," PVC("one") "," PVC("three"),
     {10, 5, 3, 0, 0, 0},
     "++++-+"},
    {"a generic ephemeral volume is the claim pod-volume",
     "{\"name\":\"scratch\",\"ephemeral\":{\"volumeClaimTemplate\":{}}}",
     {10, 10, 1, 0, 0, 0},
     "++++-+"},
    {"a switchover asks for b, which has the disk", PVC("to-b"), {3, 10, 1, 0, 0, 0}, "++++-+"},
    {"the same, with another volume", PVC("two") "," PVC("to-b"), {3, 10, 1, 0, 0, 0}, "++++-+"},
    {"it is over", PVC("to-b-once"), {10, 10, 1, 0, 0, 0}, "++++-+"},
    {"it would last", PVC("to-b-for-ever"), {10, 10, 1, 0, 0, 0}, "++++-+"},
    {"it asks for c, which has not", PVC("to-c"), {10, 10, 1, 0, 0, 0}, "++++-+"},
    {"what is no claim does not count",
     "{\"name\":\"t\",\"projected\":{}},{\"name\":\"e\",\"emptyDir\":{}}," PVC("one"),
     {10, 10, 1, 0, 0, 0},
     "++++-+"},
    {"a replica on a silent node loses to healthy nodes without",
     PVC("on-d"),
     {1, 1, 1, 0, 0, 0},
     "++++-+"},
    {"a replica that is not ready is none; one whose node says nothing of it is",
     PVC("half-dead"),
     {1, 10, 10, 0, 0, 0},
     "++++-+"},
    {"no replica that is ready: equal", PVC("dead"), {0}, "++++-+"},
    {"of two disks one is not ready: the node has the other",
     PVC("half-dead") "," PVC("one"),
     {5, 10, 5, 0, 0, 0},
     "++++-+"},
    {"failed: nothing; pending with a LUN: coming; pending without: a wish",
     PVC("broken"),
     {1, 5, 1, 0, 0, 0},
     "++++-+"},
    {"a volume of ours without replicas: equal", PVC("lonely"), {0}, "++++-+"},
    {"many writers: equal, but a plug-in is needed", PVC("shared"), {0}, "++++-+"},
    {"many readers: the same", PVC("reading"), {0}, "++++-+"},
    {"a shared volume does not lessen the share of the others",
     PVC("shared") "," PVC("one"),
     {10, 10, 1, 0, 0, 0},
     "++++-+"},
    {"another driver's volume", PVC("foreign"), {0}, "++++++"},
    {"a volume of no driver", PVC("files"), {0}, "++++++"},
    {"an unbound claim", PVC("unbound"), {0}, "++++++"},
    {"an unknown claim", PVC("unheard-of"), {0}, "++++++"},
    {"a stranger's claim that names a volume of another", PVC("strangers"), {0}, "++++++"},
    {"a claim of the name of a former one", PVC("of-that-name"), {0}, "++++++"},
    {"a claim that names a volume of nobody", PVC("of-nobody"), {0}, "++++++"},
    {"no volumes", "", {0}, "++++++"},
};

static const Api__Pod *read_pod(const char *namespace_, const char *list, struct arena *arena)
{
    CLEANUP(freep)
    char *text = mem_printf("{\"metadata\":{\"namespace\":\"%s\",\"name\":\"db\"},"
                            "\"spec\":{\"volumes\":[%s]}}",
                            namespace_, list);
    CLEANUP(json_decrefp) json_t *json = NULL;
    const ProtobufCMessage *pod;

    assert_ok(json_parse_here(text, strlen(text), &json));
    assert_ok(json_decode(&api__pod__descriptor, json, arena, &pod));
    return (const Api__Pod *)(const void *)pod;
}

/* What is said without a look at the nodes must be true of all of them. */
static void check_alike(const char *why, const struct extender *extender,
                        const struct pod_disks *disks, const unsigned *scores, const bool *allowed)
{
    for (size_t i = 0; i < N_ASKED; i++) {
        if (scores[i] && !extender_may_prefer(extender, disks))
            fail_msg("%s: node %s has score %u, and none is said to have any", why, asked[i],
                     scores[i]);
        if (!allowed[i] && !extender_may_refuse(extender, disks))
            fail_msg("%s: node %s is refused, and all are said to be allowed", why, asked[i]);
    }
}

static void check(const char *why, const struct cluster *cluster, const Api__Pod *pod,
                  const unsigned *scores, const char *allowed)
{
    const struct extender *extender = cluster_extender(cluster);
    CLEANUP(pod_disks_fini) struct pod_disks disks = {0};
    unsigned got_scores[N_ASKED];
    bool got_allowed[N_ASKED];
    struct named nodes[N_ASKED];

    for (size_t i = 0; i < N_ASKED; i++)
        nodes[i] = named_of(asked[i], strlen(asked[i]));
    pod_disks_find(extender, pod, &disks);
    extender_prioritize(extender, &disks, nodes, N_ASKED, got_scores);
    extender_filter(extender, &disks, nodes, N_ASKED, got_allowed);
    check_alike(why, extender, &disks, got_scores, got_allowed);
    for (size_t i = 0; i < N_ASKED; i++) {
        if (got_scores[i] != scores[i])
            fail_msg("%s: node %s: expected score %u, got %u", why, asked[i], scores[i],
                     got_scores[i]);
        if (got_allowed[i] != (allowed[i] == '+'))
            fail_msg("%s: node %s: allowed is %d", why, asked[i], got_allowed[i]);
    }
}

static void test_table(void **state)
{
    CLEANUP(cluster_freep) struct cluster *cluster = cluster_new(&objects);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(arena_freep) struct arena *arena = arena_new();

        check(rows[i].why, cluster, read_pod("shop", rows[i].volumes, arena), rows[i].scores,
              rows[i].allowed);
    }
}

static const unsigned nothing[N_ASKED];

static void test_only_what_is_needed_is_kept(void **state)
{
    CLEANUP(cluster_freep) struct cluster *cluster = cluster_new(&objects);
    const struct extender *extender = cluster_extender(cluster);
    struct store *const stores[] = {extender->claims, extender->volumes, extender->attachments,
                                    extender->driver_nodes};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(stores); i++)
        STORE_FOREACH(stores[i], object)
            assert_null(object->message);
    const struct kube_object *claim = store_get(extender->claims, "shop/one");
    assert_string_equal(KUBE_DIGEST(struct claim_digest, claim)->texts, "pv1");
    const struct kube_object *volume = store_get(extender->volumes, "pv1");
    const struct volume_digest *ours = KUBE_DIGEST(struct volume_digest, volume);
    assert_string_equal(ours->texts, "/disks/one");
    assert_string_equal(ours->texts + ours->claim, "shop/one");
    const struct kube_object *foreign = store_get(extender->volumes, "pv6");
    const struct volume_digest *theirs = KUBE_DIGEST(struct volume_digest, foreign);
    assert_string_equal(theirs->texts, "");
    assert_string_equal(theirs->texts + theirs->claim, "");
}

/* Pods that may go anywhere are answered before anybody reads what the nodes are called. */
static void test_who_is_answered_without_a_look_at_the_nodes(void **state)
{
    static const struct {
        const char *volumes;
        bool may_prefer, may_refuse;
    } pods[] = {
        {"", false, false},
        {PVC("foreign"), false, false},
        {PVC("unbound"), false, false},
        {PVC("lonely"), false, true},
        {PVC("shared"), false, true},
        {PVC("dead"), false, true},
        {PVC("one"), true, true},
        {PVC("on-d"), true, true},
    };
    CLEANUP(cluster_freep) struct cluster *cluster = cluster_new(&objects);
    const struct extender *extender = cluster_extender(cluster);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(pods); i++) {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        CLEANUP(pod_disks_fini) struct pod_disks disks = {0};

        pod_disks_find(extender, read_pod("shop", pods[i].volumes, arena), &disks);
        if (extender_may_prefer(extender, &disks) != pods[i].may_prefer ||
            extender_may_refuse(extender, &disks) != pods[i].may_refuse)
            fail_msg("a pod with [%s]", pods[i].volumes);
    }
}

/* ---- nodes that come, change and go ---- */

static struct kube_object *plugin(const struct extender *extender, const char *name,
                                  const char *node, uint64_t version, bool ready)
{
    CLEANUP(freep)
    char *text = mem_printf(
        "{\"metadata\":{\"name\":\"%s\",\"resourceVersion\":\"%d\"},\"spec\":{\"nodeName\":"
        "\"%s\"},\"status\":{\"lastHeartbeatTime\":\"2026-01-01T00:00:00Z\","
        "\"readyForVolumeAllocation\":%s}}",
        name, (int)version, node, ready ? "true" : "false");
    CLEANUP(json_decrefp) json_t *json = NULL;
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

    assert_ok(json_parse_here(text, strlen(text), &json));
    assert_ok(kube_object_decode(&api__az_driver_node__descriptor, json, &object));
    return digest_driver_node((void *)(uintptr_t)extender, object);
}

static void put(const struct extender *extender, const char *name, const char *node,
                uint64_t version, bool ready)
{
    CLEANUP(kube_object_unrefp)
    struct kube_object *object = plugin(extender, name, node, version, ready);

    store_put(extender->driver_nodes, object);
}

static void drop(const struct extender *extender, const char *name, uint64_t version)
{
    CLEANUP(kube_object_unrefp)
    struct kube_object *object = plugin(extender, name, "", version, true);

    store_remove(extender->driver_nodes, object);
}

/* "+" healthy, "-" not ready, "." neither. */
static char word_of(const struct extender *extender, const char *node)
{
    uint64_t hash = named_of(node, strlen(node)).hash;
    bool healthy = name_table_find(&extender->heard_us[NODE_HEALTHY], hash);
    bool not_ready = name_table_find(&extender->heard_us[NODE_NOT_READY], hash);

    assert_false(healthy && not_ready);
    return healthy ? '+' : not_ready ? '-' : '.';
}

static void test_nodes_come_change_and_go(void **state)
{
    CLEANUP(cluster_freep) struct cluster *cluster = cluster_new(&objects);
    const struct extender *extender = cluster_extender(cluster);

    (void)state;
    assert_int_equal(word_of(extender, "n"), '.');
    put(extender, "x", "n", 20, true);
    assert_int_equal(word_of(extender, "n"), '+');
    put(extender, "x", "n", 21, false);
    assert_int_equal(word_of(extender, "n"), '-');
    put(extender, "y", "n", 22, true); /* a second one of the node: the first one's word counts */
    assert_int_equal(word_of(extender, "n"), '-');
    put(extender, "x", "m", 23, true); /* it is about another node now */
    assert_int_equal(word_of(extender, "n"), '+');
    assert_int_equal(word_of(extender, "m"), '+');
    drop(extender, "y", 24);
    assert_int_equal(word_of(extender, "n"), '.');
    drop(extender, "x", 25);
    assert_int_equal(word_of(extender, "m"), '.');
}

static void test_claims_are_those_of_the_pods_namespace(void **state)
{
    CLEANUP(cluster_freep) struct cluster *cluster = cluster_new(&objects);
    CLEANUP(arena_freep) struct arena *arena = arena_new();

    (void)state;
    check("elsewhere", cluster, read_pod("elsewhere", PVC("one"), arena), nothing, "++++++");
    check("a claim there that names a volume of ours", cluster,
          read_pod("elsewhere", PVC("two"), arena), nothing, "++++++");
}

/* Each list in turn is one that never comes. */
static void test_neutral_until_all_is_read(void **state)
{
    const char *const **lists[4];
    struct cluster_objects partial;
    CLEANUP(arena_freep) struct arena *arena = arena_new();

    (void)state;
    lists[0] = &partial.claims, lists[1] = &partial.volumes;
    lists[2] = &partial.attachments, lists[3] = &partial.driver_nodes;
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        partial = objects;
        *lists[i] = NULL;
        CLEANUP(cluster_freep) struct cluster *cluster = cluster_new(&partial);
        check("not read yet", cluster, read_pod("shop", PVC("one"), arena), nothing, "++++++");
    }
}

/* Every plug-in is down, or the API server cannot be reached: pods are scheduled as without us. */
static void test_neutral_when_all_fall_silent(void **state)
{
    CLEANUP(cluster_freep) struct cluster *cluster = cluster_new(&objects);
    CLEANUP(arena_freep) struct arena *arena = arena_new();

    (void)state;
    cluster_advance(cluster, 3 * 60 * 1000);
    check("silent", cluster, read_pod("shop", PVC("one"), arena), nothing, "++++++");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_only_what_is_needed_is_kept),
        cmocka_unit_test(test_who_is_answered_without_a_look_at_the_nodes),
        cmocka_unit_test(test_nodes_come_change_and_go),
        cmocka_unit_test(test_claims_are_those_of_the_pods_namespace),
        cmocka_unit_test(test_neutral_until_all_is_read),
        cmocka_unit_test(test_neutral_when_all_fall_silent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
