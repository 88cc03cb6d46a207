/* What becomes of objects that clients write to. */
#include <string.h>

#include "lib/base/alloc.h"
#include "test/unit/test/sim/kube/stage.h"

#define NS "azure-disk-csi"

static void creates(struct task *self, struct stage *stage)
{
    CLEANUP(json_decrefp)
    json_t *volume = stage_json("{'metadata':{'name':'v','labels':{},'uid':'mine'},"
                                "'spec':{'a':1},'status':{'b':2}}");
    CLEANUP(json_decrefp) json_t *bad = stage_json("{'metadata':{'name':'Vol'}}");
    CLEANUP(json_decrefp) json_t *nameless = stage_json("{'metadata':{}}");
    CLEANUP(kube_object_unrefp) struct kube_object *made = NULL;

    assert_ok(kube_create(self, stage->kube, &AZ_VOLUMES, NS, volume, &made));
    assert_string_equal(made->key, NS "/v");
    assert_int_equal(made->version, kube_server_revision(stage->server));
    assert_int_equal(made->metadata->generation, 1);
    assert_int_equal(strlen(made->metadata->uid), UUID_SIZE - 1);
    assert_string_equal(made->metadata->creation_timestamp, "2026-01-01T00:00:00Z");
    assert_string_equal(stage_value(stage, &AZ_VOLUMES, NS, "v", "kind"), "AzVolume");
    assert_string_equal(stage_value(stage, &AZ_VOLUMES, NS, "v", "apiVersion"),
                        "disk.csi.azure.com/v1beta2");
    assert_string_equal(stage_value(stage, &AZ_VOLUMES, NS, "v", "spec.a"), "1");
    assert_string_equal(stage_value(stage, &AZ_VOLUMES, NS, "v", "status.b"), "");
    assert_null(json_object_get(
        json_object_get(kube_server_get(stage->server, &AZ_VOLUMES, NS, "v"), "metadata"),
        "labels"));

    assert_fails(kube_create(self, stage->kube, &AZ_VOLUMES, NS, volume, NULL), ERR_EXISTS,
                 "POST /apis/disk.csi.azure.com/v1beta2/namespaces/azure-disk-csi/azvolumes: "
                 "azvolumes.disk.csi.azure.com \"v\" already exists (HTTP 409)");
    assert_ok(kube_create(self, stage->kube, &AZ_VOLUMES, "other", volume, NULL));
    assert_int_equal(kube_server_count(stage->server, &AZ_VOLUMES), 2);
    struct err *err = kube_create(self, stage->kube, &AZ_VOLUMES, NS, bad, NULL);
    assert_int_equal(err_kind(err), ERR_INVALID);
    err_free(err);
    err = kube_create(self, stage->kube, &AZ_VOLUMES, NS, nameless, NULL);
    assert_int_equal(err_kind(err), ERR_INVALID);
    assert_string_equal(err_code(err), "Invalid");
    err_free(err);
}

static void generates_names(struct task *self, struct stage *stage)
{
    CLEANUP(json_decrefp) json_t *event = stage_json("{'metadata':{'generateName':'tick.'}}");
    CLEANUP(kube_object_unrefp) struct kube_object *first = NULL;
    CLEANUP(kube_object_unrefp) struct kube_object *second = NULL;

    assert_ok(kube_create(self, stage->kube, &EVENTS, NS, event, &first));
    assert_ok(kube_create(self, stage->kube, &EVENTS, NS, event, &second));
    assert_int_equal(strlen(first->metadata->name), strlen("tick.") + 5);
    assert_memory_equal(first->metadata->name, "tick.", strlen("tick."));
    assert_string_not_equal(first->metadata->name, second->metadata->name);
}

static void refuses_stale_patches(struct task *self, struct stage *stage)
{
    CLEANUP(kube_object_unrefp) struct kube_object *read = NULL;

    stage_create(stage, &LEASES, NS, "{'metadata':{'name':'l'},'spec':{'holderIdentity':'a'}}");
    assert_ok(kube_get(self, stage->kube, &LEASES, NS, "l", &read));
    CLEANUP(json_decrefp)
    json_t *patch = json_pack("{s:{s:s}, s:{s:s}}", "metadata", "resourceVersion",
                              read->metadata->resource_version, "spec", "holderIdentity", "b");

    assert_ok(kube_patch(self, stage->kube, &LEASES, NS, "l", NULL, patch, NULL));
    struct err *err = kube_patch(self, stage->kube, &LEASES, NS, "l", NULL, patch, NULL);
    assert_int_equal(err_kind(err), ERR_CONFLICT);
    err_free(err);
    assert_string_equal(stage_value(stage, &LEASES, NS, "l", "spec.holderIdentity"), "b");

    err = kube_delete_unchanged(self, stage->kube, &LEASES, read);
    assert_int_equal(err_kind(err), ERR_CONFLICT);
    err_free(err);
    err = kube_delete(self, stage->kube, &LEASES, NS, "l", "another");
    assert_int_equal(err_kind(err), ERR_CONFLICT);
    err_free(err);
    assert_ok(kube_delete(self, stage->kube, &LEASES, NS, "l", read->metadata->uid));
    assert_ok(kube_delete_unchanged(self, stage->kube, &LEASES, read)); /* gone already */
    err = kube_get(self, stage->kube, &LEASES, NS, "l", NULL);
    assert_int_equal(err_kind(err), ERR_NOT_FOUND);
    err_free(err);
}

/* Each row is a patch of a Node with one taint, and the taint that is first thereafter. */
static const struct {
    const char *patch, *first; /* NULL: it is refused */
} json_patches[] = {
    {"[{'op':'add','path':'/spec/taints/-','value':{'key':'b'}}]", "a"},
    {"[{'op':'add','path':'/spec/taints/0','value':{'key':'b'}}]", "b"},
    {"[{'op':'add','path':'/spec/taints','value':[{'key':'b'}]}]", "b"},
    {"[{'op':'replace','path':'/spec/taints/0/key','value':'b'}]", "b"},
    {"[{'op':'remove','path':'/spec/taints/0'}]", ""},
    {"[{'op':'test','path':'/spec/taints/0/key','value':'a'},"
     "{'op':'remove','path':'/spec/taints/0'}]",
     ""},
    {"[{'op':'test','path':'/metadata/labels/x~1y','value':'z'},"
     "{'op':'remove','path':'/spec/taints/0'}]",
     ""},
    {"[{'op':'remove','path':'/spec/taints/0'},"
     "{'op':'test','path':'/spec/taints/0/key','value':'a'}]",
     NULL},
    {"[{'op':'test','path':'/metadata/resourceVersion','value':'0'},"
     "{'op':'remove','path':'/spec/taints/0'}]",
     NULL},
    {"[{'op':'remove','path':'/spec/taints/1'}]", NULL},
    {"[{'op':'replace','path':'/spec/none','value':1}]", NULL},
    {"[{'op':'add','path':'/spec/none/0','value':1}]", NULL},
    {"[{'op':'add','path':'/spec/taints/2','value':{}}]", NULL},
    {"[{'op':'shuffle','path':'/spec/taints'}]", NULL},
};

static const char *first_taint(struct stage *stage)
{
    const json_t *node = kube_server_get(stage->server, &NODES, NULL, "n");
    const json_t *taints = json_object_get(json_object_get(node, "spec"), "taints");
    const char *key = json_string_value(json_object_get(json_array_get(taints, 0), "key"));

    return key ? key : "";
}

static void patches_by_operations(struct task *self, struct stage *stage)
{
    for (size_t i = 0; i < sizeof json_patches / sizeof *json_patches; i++) {
        CLEANUP(json_decrefp) json_t *patch = stage_json(json_patches[i].patch);
        const char *first = json_patches[i].first;

        stage_create(
            stage, &NODES, NULL,
            "{'metadata':{'name':'n','labels':{'x/y':'z'}},'spec':{'taints':[{'key':'a'}]}}");
        struct err *err = kube_json_patch(self, stage->kube, &NODES, NULL, "n", patch);
        if (first ? err != NULL : !err || err_kind(err) != ERR_INVALID)
            print_error("%s: %s\n", json_patches[i].patch, err ? err_message(err) : "done");
        assert_int_equal(err != NULL, first == NULL);
        assert_string_equal(first_taint(stage), first ? first : "a");
        err_free(err);
        assert_ok(kube_delete(self, stage->kube, &NODES, NULL, "n", NULL));
    }
}

static void separates_the_status(struct task *self, struct stage *stage)
{
    CLEANUP(json_decrefp)
    json_t *both = stage_json("{'metadata':{'labels':{'l':'1'}},'spec':{'a':2},'status':{'b':2}}");

    stage_create(stage, &AZ_VOLUMES, NS, "{'metadata':{'name':'v'},'spec':{'a':1}}");
    assert_ok(kube_patch(self, stage->kube, &AZ_VOLUMES, NS, "v", "status", both, NULL));
    assert_string_equal(stage_value(stage, &AZ_VOLUMES, NS, "v", "spec.a"), "1");
    assert_string_equal(stage_value(stage, &AZ_VOLUMES, NS, "v", "status.b"), "2");
    assert_string_equal(stage_value(stage, &AZ_VOLUMES, NS, "v", "metadata.labels.l"), "");
    assert_string_equal(stage_value(stage, &AZ_VOLUMES, NS, "v", "metadata.generation"), "1");

    json_object_set_new(both, "status", json_pack("{s:i}", "b", 3));
    assert_ok(kube_patch(self, stage->kube, &AZ_VOLUMES, NS, "v", NULL, both, NULL));
    assert_string_equal(stage_value(stage, &AZ_VOLUMES, NS, "v", "spec.a"), "2");
    assert_string_equal(stage_value(stage, &AZ_VOLUMES, NS, "v", "status.b"), "2");
    assert_string_equal(stage_value(stage, &AZ_VOLUMES, NS, "v", "metadata.labels.l"), "1");
    assert_string_equal(stage_value(stage, &AZ_VOLUMES, NS, "v", "metadata.generation"), "2");

    /* What labels a Node by its status is kubelet. */
    stage_create(stage, &NODES, NULL, "{'metadata':{'name':'n'},'status':{'phase':'x'}}");
    stage_patch(stage, &NODES, NULL, "n", "status", "{'metadata':{'labels':{'zone':'1'}}}");
    assert_string_equal(stage_value(stage, &NODES, NULL, "n", "metadata.labels.zone"), "1");
    assert_string_equal(stage_value(stage, &NODES, NULL, "n", "status.phase"), "x");
}

static void count_change(void *ctx, const struct api_resource *resource, const json_t *before,
                         const json_t *after)
{
    assert_ptr_equal(resource, &AZ_VOLUMES);
    assert_true(before || after);
    (*(unsigned *)ctx)++;
}

static void ignores_what_changes_nothing(struct task *self, struct stage *stage)
{
    unsigned changes = 0;

    stage_create(stage, &AZ_VOLUMES, NS, "{'metadata':{'name':'v'},'spec':{'a':{'b':1}}}");
    kube_server_observe(stage->server, count_change, &changes);
    uint64_t revision = kube_server_revision(stage->server);
    CLEANUP(json_decrefp)
    json_t *same = stage_json("{'metadata':{'annotations':{},'generation':9},'spec':{'a':{'b':1},"
                              "'c':null}}");
    CLEANUP(kube_object_unrefp) struct kube_object *answer = NULL;

    assert_ok(kube_patch(self, stage->kube, &AZ_VOLUMES, NS, "v", NULL, same, &answer));
    assert_int_equal(answer->version, revision);
    assert_int_equal(kube_server_revision(stage->server), revision);
    assert_int_equal(changes, 0);
    stage_patch(stage, &AZ_VOLUMES, NS, "v", NULL, "{'spec':{'a':null}}");
    assert_int_equal(kube_server_revision(stage->server), revision + 1);
    assert_int_equal(changes, 1);
}

static void waits_for_finalizers(struct task *self, struct stage *stage)
{
    CLEANUP(json_decrefp) json_t *more = stage_json("{'metadata':{'finalizers':['f/a','f/b']}}");

    stage_create(stage, &AZ_VOLUMES, NS, "{'metadata':{'name':'v','finalizers':['f/a']}}");
    assert_ok(kube_delete(self, stage->kube, &AZ_VOLUMES, NS, "v", NULL));
    assert_string_equal(stage_value(stage, &AZ_VOLUMES, NS, "v", "metadata.deletionTimestamp"),
                        "2026-01-01T00:00:00Z");
    assert_string_equal(stage_value(stage, &AZ_VOLUMES, NS, "v", "metadata.generation"), "2");
    uint64_t revision = kube_server_revision(stage->server);
    assert_ok(kube_delete(self, stage->kube, &AZ_VOLUMES, NS, "v", NULL));
    assert_int_equal(kube_server_revision(stage->server), revision);

    struct err *err = kube_patch(self, stage->kube, &AZ_VOLUMES, NS, "v", NULL, more, NULL);
    assert_int_equal(err_kind(err), ERR_INVALID);
    err_free(err);
    stage_patch(stage, &AZ_VOLUMES, NS, "v", NULL, "{'metadata':{'deletionTimestamp':null}}");
    assert_string_equal(stage_value(stage, &AZ_VOLUMES, NS, "v", "metadata.deletionTimestamp"),
                        "2026-01-01T00:00:00Z");
    stage_patch(stage, &AZ_VOLUMES, NS, "v", NULL, "{'metadata':{'finalizers':null}}");
    assert_null(kube_server_get(stage->server, &AZ_VOLUMES, NS, "v"));
    assert_int_equal(kube_server_revision(stage->server), revision + 1);
}

static void gives_pods_time(struct task *self, struct stage *stage)
{
    stage_create(stage, &PODS, "a", "{'metadata':{'name':'p'},'spec':{'nodeName':'n'}}");
    stage_create(stage, &PODS, "a", "{'metadata':{'name':'q'},'spec':{}}");
    assert_ok(kube_delete(self, stage->kube, &PODS, "a", "q", NULL));
    assert_null(kube_server_get(stage->server, &PODS, "a", "q"));
    assert_ok(kube_delete(self, stage->kube, &PODS, "a", "p", NULL));
    assert_string_equal(stage_value(stage, &PODS, "a", "p", "metadata.deletionTimestamp"),
                        "2026-01-01T00:00:30Z");
    stage_patch(stage, &PODS, "a", "p", "status", "{'status':{'phase':'Running'}}");
    assert_ok(kube_server_delete_now(stage->server, &PODS, "a", "p"));
    assert_null(kube_server_get(stage->server, &PODS, "a", "p"));
}

static void goes_through_in_order(struct task *self, struct stage *stage)
{
    static const char *const order[] = {"b", "c", "a", "b"};

    (void)self;
    stage_create(stage, &PODS, "y", "{'metadata':{'name':'b'}}");
    stage_create(stage, &PODS, "y", "{'metadata':{'name':'a'}}");
    stage_create(stage, &PODS, "x", "{'metadata':{'name':'c'}}");
    stage_create(stage, &PODS, "x", "{'metadata':{'name':'b'}}");
    assert_int_equal(kube_server_count(stage->server, &PODS), COUNT_OF(order));
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        const json_t *pod = kube_server_at(stage->server, &PODS, i);
        const json_t *name = json_object_get(json_object_get(pod, "metadata"), "name");

        assert_string_equal(json_string_value(name), order[i]);
    }
}

static void knows_what_it_serves(struct task *self, struct stage *stage)
{
    static const struct {
        const char *method, *path, *body;
        int status;
    } cases[] = {
        {"GET", "/api/v1/nodes", NULL, 200},
        {"GET", "/api/v1/nodes/none", NULL, 404},
        {"GET", "/api/v1/gnomes", NULL, 404},
        {"GET", "/apis/disk.csi.azure.com/v1beta1/azvolumes", NULL, 404},
        {"GET", "/api/v1/namespaces/a/nodes", NULL, 404},
        {"POST", "/api/v1/pods", "{}", 405},
        {"POST", "/api/v1/namespaces/a/pods", "{'metadata':", 400},
        {"POST", "/api/v1/namespaces/a/pods", "{'kind':'Node','metadata':{'name':'a'}}", 400},
        {"POST", "/api/v1/namespaces/a/pods", "{'metadata':{'name':'a','namespace':'b'}}", 400},
        {"POST", "/api/v1/namespaces/a/pods", "{'metadata':{'name':'a'}}", 201},
        {"PUT", "/api/v1/namespaces/a/pods/a", "{'metadata':{'name':'a'},'spec':{'x':1}}", 200},
        {"PUT", "/api/v1/namespaces/a/pods/a", "{'metadata':{'name':'b'}}", 400},
        {"PATCH", "/api/v1/namespaces/a/pods/a/status", "{'status':{}}", 200},
        {"PATCH", "/api/v1/namespaces/a/pods/a/scale", "{}", 404},
        {"PATCH", "/apis/coordination.k8s.io/v1/namespaces/a/leases/a/status", "{}", 404},
        {"GET", "/api/v1/pods?fieldSelector=spec.color%3Dred", NULL, 400},
        {"GET", "/api/v1/pods?continue=nonsense", NULL, 400},
        {"GET", "/api/v1/pods?resourceVersion=1000000", NULL, 504},
        {"DELETE", "/api/v1/namespaces/a/pods/a", NULL, 200},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP(freep) char *body = NULL;
        int status = stage_ask(self, stage, cases[i].method, cases[i].path, cases[i].body, &body);

        if (status != cases[i].status)
            print_error("%s %s: %s\n", cases[i].method, cases[i].path, body);
        assert_int_equal(status, cases[i].status);
    }
}

#define PLAY(body)                                                                                 \
    static void body##_test(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        stage_play(body);                                                                          \
    }
PLAY(creates)
PLAY(generates_names)
PLAY(refuses_stale_patches)
PLAY(patches_by_operations)
PLAY(separates_the_status)
PLAY(ignores_what_changes_nothing)
PLAY(waits_for_finalizers)
PLAY(gives_pods_time)
PLAY(goes_through_in_order)
PLAY(knows_what_it_serves)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creates_test),
        cmocka_unit_test(generates_names_test),
        cmocka_unit_test(refuses_stale_patches_test),
        cmocka_unit_test(patches_by_operations_test),
        cmocka_unit_test(separates_the_status_test),
        cmocka_unit_test(ignores_what_changes_nothing_test),
        cmocka_unit_test(waits_for_finalizers_test),
        cmocka_unit_test(gives_pods_time_test),
        cmocka_unit_test(goes_through_in_order_test),
        cmocka_unit_test(knows_what_it_serves_test),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
