/* Which attachment does not say what the pods of its node ask for. The volume v is on node a. */
#include "controller/failover/pod_wish.h"

#include "lib/base/text.h"
#include "test/unit/controller/controller_of.h"

#define NOTED ",'annotation':{'disk.csi.azure.com/automatic-failover':'true'}"
#define ON(role, note) ATTACHMENT("v", "a", role, role, "Attached", "0", note)
#define ASKS "'labels':{'disk.csi.azure.com/automatic-failover':'true'}"
#define POD(name, node, labels, claim, phase)                                                      \
    "{'metadata':{'name':'" name "','namespace':'default'," labels "},'spec':{'nodeName':'" node   \
    "','volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'" claim                        \
    "'}}]},'status':{'phase':'" phase "'}}"
#define RUNS(name, labels) POD(name, "a", labels, "claim", "Running")

enum { MOST_PODS = 2 };

static const struct {
    const char *what, *attachment;
    const char *pods[MOST_PODS];
    bool wrong;
    const char *note;
} rows[] = {
    {"nobody asks", ON("Primary", ""), {RUNS("p", "'labels':{}")}, false, NULL},
    {"its pod asks", ON("Primary", ""), {RUNS("p", ASKS)}, true, "true"},
    {"its pod asks in other words",
     ON("Primary", ""),
     {RUNS("p", "'labels':{'disk.csi.azure.com/automatic-failover':'True'}")},
     true,
     "true"},
    {"its pod asks for none",
     ON("Primary", ""),
     {RUNS("p", "'labels':{'disk.csi.azure.com/automatic-failover':'false'}")},
     false,
     NULL},
    {"it says so", ON("Primary", NOTED), {RUNS("p", ASKS)}, false, NULL},
    {"its pod does not ask any more", ON("Primary", NOTED), {RUNS("p", "'labels':{}")}, true, NULL},
    {"one of two asks",
     ON("Primary", ""),
     {RUNS("p", ASKS), RUNS("q", "'labels':{}")},
     false,
     NULL},
    {"one of two does not ask any more",
     ON("Primary", NOTED),
     {RUNS("p", ASKS), RUNS("q", "'labels':{}")},
     true,
     NULL},
    {"both ask", ON("Primary", ""), {RUNS("p", ASKS), RUNS("q", ASKS)}, true, "true"},
    {"its pod is gone", ON("Primary", NOTED), {NULL}, false, NULL},
    {"its pod is done",
     ON("Primary", NOTED),
     {POD("p", "a", "'labels':{}", "claim", "Succeeded")},
     false,
     NULL},
    {"a pod of another node",
     ON("Primary", ""),
     {POD("p", "b", ASKS, "claim", "Running")},
     false,
     NULL},
    {"a pod of another claim",
     ON("Primary", ""),
     {POD("p", "a", ASKS, "other", "Running")},
     false,
     NULL},
    {"a replica", ON("Replica", ""), {RUNS("p", ASKS)}, false, NULL},
};

static void check(size_t i)
{
    CLEANUP(freep)
    char *text = mem_printf(
        "{'volumes':[" VOLUME("v", "1") "],'pvs':[" PV("pv", "v") "],'attachments':[%s]}",
        rows[i].attachment);
    CLEANUP(json_decrefp) json_t *cluster = json_of(text);
    struct cluster_view view = view_of(cluster);
    struct controller controller = controller_of(&view);
    const char *note = NULL;

    for (size_t k = 0; k < MOST_PODS && rows[i].pods[k]; k++) {
        CLEANUP(json_decrefp) json_t *json = json_of(rows[i].pods[k]);
        CLEANUP(kube_object_unrefp) struct kube_object *pod = NULL;

        assert_ok(kube_object_decode(&api__pod__descriptor, json, &pod));
        store_put(controller.pods, pod);
    }
    bool wrong = pod_wish_find_wrong(&controller, "a", &note) != NULL;
    if (wrong != rows[i].wrong || (wrong && !same_text(note, rows[i].note)))
        fail_msg("%s: %s", rows[i].what, !wrong ? "nothing is wrong" : note ? note : "no note");
    controller_fini(&controller);
    view_free(&view);
}

static void test_notes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check(i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_notes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
