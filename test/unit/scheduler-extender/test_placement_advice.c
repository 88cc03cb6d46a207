/* A small cluster, and what the webhook answers for pods in it. */
#include "scheduler-extender/placement_advice.h"

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "test/unit/object.h"
#include "test/unit/scheduler-extender/cluster.h"

#define CLAIM(name, volume, mode)                                                                  \
    "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"" name                                       \
    "\",\"resourceVersion\":\"5\"},\"spec\":{\"volumeName\":\"" volume                             \
    "\",\"accessModes\":[\"" mode "\"]}}"
#define VOLUME(name, driver, disk, claim)                                                          \
    "{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"5\"},\"spec\":{\"csi\":{"          \
    "\"driver\":\"" driver "\",\"volumeHandle\":\"/disks/" disk                                    \
    "\"},\"claimRef\":{\"namespace\":\"shop\",\"name\":\"" claim "\"}}}"
#define ATTACHMENT(disk, node, state)                                                              \
    "{\"metadata\":{\"namespace\":\"azure-disk-csi\",\"name\":\"" disk node                        \
    "\",\"resourceVersion\":\"5\"},\"spec\":{\"volume_id\":\"/disks/" disk                         \
    "\",\"nodeName\":\"" node                                                                      \
    "\"},\"status\":{\"detail\":{\"publish_context\":{\"LUN\":\"3\"}},\"state\":\"" state "\"}}"
#define PLUGIN(node, ready)                                                                        \
    "{\"metadata\":{\"namespace\":\"azure-disk-csi\",\"name\":\"" node                             \
    "\",\"resourceVersion\":\"5\"},\"spec\":{\"nodeName\":\"" node                                 \
    "\"},\"status\":{\"lastHeartbeatTime\":\"2026-01-01T00:00:00Z\","                              \
    "\"readyForVolumeAllocation\":" ready "}}"

static const char *const claims[] = {
    CLAIM("one", "pv1", "ReadWriteOnce"),       CLAIM("many", "pv2", "ReadWriteMany"),
    CLAIM("foreign", "pv3", "ReadWriteOnce"),   CLAIM("lonely", "pv4", "ReadWriteOnce"),
    CLAIM("waiting", "", "ReadWriteOnce"),      CLAIM("db-scratch", "pv5", "ReadWriteOnce"),
    CLAIM("strangers", "pv1", "ReadWriteOnce"), NULL,
};
static const char *const volumes[] = {
    VOLUME("pv1", "disk.csi.azure.com", "pv1", "one"),
    VOLUME("pv2", "disk.csi.azure.com", "pv2", "many"),
    VOLUME("pv3", "ebs.csi.aws.com", "pv3", "foreign"),
    VOLUME("pv4", "disk.csi.azure.com", "pv4", "lonely"),
    VOLUME("pv5", "disk.csi.azure.com", "pv1", "db-scratch"),
    NULL,
};
static const char *const attachments[] = {
    ATTACHMENT("pv1", "a", "Attached"),
    ATTACHMENT("pv1", "b", "Attaching"),
    ATTACHMENT("pv1", "e", "Attached"),
    ATTACHMENT("pv2", "a", "Attached"),
    ATTACHMENT("pv3", "a", "Attached"),
    ATTACHMENT("pv2", "c", "Attached"),
    NULL,
};
static const char *const driver_nodes[] = {
    PLUGIN("b", "true"), PLUGIN("a", "true"), PLUGIN("c", "true"), PLUGIN("e", "false"), NULL,
};
static const struct cluster_objects objects = {claims, volumes, attachments, driver_nodes};
static const struct cluster_objects half_read = {claims, volumes, NULL, driver_nodes};

static json_t *advice(const struct cluster_objects *of, int mode, bool may_gate,
                      const char *metadata, const char *volume)
{
    const struct placement_rules rules = {mode, "default-scheduler", ""};
    CLEANUP(cluster_freep) struct cluster *cluster = cluster_new(of);
    CLEANUP(freep)
    char *quoted = mem_printf("{'kind':'AdmissionReview','apiVersion':'admission.k8s.io/v1',"
                              "'request':{'uid':'u','operation':'CREATE','kind':{'group':'',"
                              "'kind':'Pod'},'namespace':'shop','object':{'metadata':{%s},'spec':"
                              "{'schedulerName':'default-scheduler','volumes':[%s]}}}}",
                              metadata, volume);
    CLEANUP(json_decrefp) json_t *json = json_of(quoted);
    CLEANUP(freep) char *text = json_dumps(json, 0);
    CLEANUP(admission_review_fini) struct admission_review review;

    assert_ok(admission_review_parse(text, strlen(text), &review));
    return placement_advise(cluster_extender(cluster), &rules, may_gate, &review);
}

#define PVC(claim) "{'name':'v','persistentVolumeClaim':{'claimName':'" claim "'}}"

static const struct {
    const char *why, *metadata, *volume;
    bool advised;
} rows[] = {
    {"a volume of ours that is attached", "'name':'db'", PVC("one"), true},
    {"a pod whose name is to be made", "'generateName':'db-'", PVC("one"), true},
    {"an ephemeral volume", "'name':'db'", "{'name':'scratch','ephemeral':{}}", true},
    {"an ephemeral volume of a pod without a name", "'generateName':'db-'",
     "{'name':'scratch','ephemeral':{}}", false},
    {"a volume that many pods use", "'name':'db'", PVC("many"), false},
    {"another driver's volume", "'name':'db'", PVC("foreign"), false},
    {"a volume that is attached nowhere", "'name':'db'", PVC("lonely"), false},
    {"a volume that is another claim's", "'name':'db'", PVC("strangers"), false},
    {"a claim that is not bound", "'name':'db'", PVC("waiting"), false},
    {"a claim that there is not", "'name':'db'", PVC("two"), false},
    {"no claim", "'name':'db'", "{'name':'v','emptyDir':{}}", false},
};

static void test_whose_disks_are_somewhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (int mode = PLACEMENT_NOMINATE; mode <= PLACEMENT_WEBHOOK; mode++) {
            CLEANUP(json_decrefp)
            json_t *patch = advice(&objects, mode, true, rows[i].metadata, rows[i].volume);

            if (rows[i].advised != (patch != NULL))
                fail_msg("%s, mode %d", rows[i].why, mode);
        }
}

static void test_half_of_what_there_is_is_not_advice(void **state)
{
    (void)state;
    assert_null(advice(&half_read, PLACEMENT_NOMINATE, true, "'name':'db'", PVC("one")));
    assert_null(advice(&half_read, PLACEMENT_WEBHOOK, true, "'name':'db'", PVC("one")));
}

static void test_no_gate_without_a_leader(void **state)
{
    CLEANUP(json_decrefp)
    json_t *preferred = advice(&objects, PLACEMENT_WEBHOOK, false, "'name':'db'", PVC("one"));

    (void)state;
    assert_null(advice(&objects, PLACEMENT_NOMINATE, false, "'name':'db'", PVC("one")));
    assert_non_null(preferred);
}

/* The weight is ten times the score. Not preferred are a node that is not healthy, and one that has
 * only what many pods use. */
static void test_the_best_nodes_are_preferred(void **state)
{
    static const char *const of[] = {PVC("one"), PVC("many") "," PVC("one")};
    CLEANUP(json_decrefp)
    json_t *wanted =
        json_of("[{'op':'add','path':'/spec/affinity','value':{'nodeAffinity':{"
                "'preferredDuringSchedulingIgnoredDuringExecution':["
                "{'weight':100,'preference':{'matchFields':[{'key':'metadata.name','operator':'In',"
                "'values':['a']}]}},"
                "{'weight':50,'preference':{'matchFields':[{'key':'metadata.name','operator':'In',"
                "'values':['b']}]}}]}}}]");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(of); i++) {
        CLEANUP(json_decrefp)
        json_t *patch = advice(&objects, PLACEMENT_WEBHOOK, true, "'name':'db'", of[i]);

        if (!json_equal(patch, wanted))
            fail_msg("%s: %s", of[i], json_dumps(patch, 0));
    }
}

enum { MANY = 30 };

/* A pod's affinity has to stay readable, and the scheduler evaluates each term for each node. */
static void test_no_more_nodes_than_a_few(void **state)
{
    char *attached[MANY + 1] = {0}, *plugins[MANY + 1] = {0};
    const struct cluster_objects many = {claims, volumes, (const char *const *)attached,
                                         (const char *const *)plugins};

    (void)state;
    for (int i = 0; i < MANY; i++) {
        attached[i] = mem_printf(
            "{\"metadata\":{\"namespace\":\"azure-disk-csi\",\"name\":\"a%d\",\"resourceVersion\":"
            "\"5\"},\"spec\":{\"volume_id\":\"/disks/pv1\",\"nodeName\":\"n%d\"},\"status\":{"
            "\"state\":\"Attached\"}}",
            i, i);
        plugins[i] = mem_printf(
            "{\"metadata\":{\"namespace\":\"azure-disk-csi\",\"name\":\"n%d\",\"resourceVersion\":"
            "\"5\"},\"spec\":{\"nodeName\":\"n%d\"},\"status\":{\"lastHeartbeatTime\":"
            "\"2026-01-01T00:00:00Z\",\"readyForVolumeAllocation\":true}}",
            i, i);
    }
    CLEANUP(json_decrefp)
    json_t *patch = advice(&many, PLACEMENT_WEBHOOK, true, "'name':'db'", PVC("one"));
    const json_t *value = json_object_get(json_array_get(patch, 0), "value");
    const json_t *terms = json_object_get(json_object_get(value, "nodeAffinity"),
                                          "preferredDuringSchedulingIgnoredDuringExecution");
    assert_int_equal(json_array_size(terms), PREFERRED_NODES);
    for (int i = 0; i < MANY; i++) {
        free(attached[i]);
        free(plugins[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whose_disks_are_somewhere),
        cmocka_unit_test(test_half_of_what_there_is_is_not_advice),
        cmocka_unit_test(test_no_gate_without_a_leader),
        cmocka_unit_test(test_the_best_nodes_are_preferred),
        cmocka_unit_test(test_no_more_nodes_than_a_few),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
