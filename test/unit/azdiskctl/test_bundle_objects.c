/* Which objects somebody needs who helps, and whose logs. */
#include "azdiskctl/bundle_objects.h"

#include <stdlib.h>
#include <unistd.h>

#include "azdiskctl/document.h"
#include "azdiskctl/log_source.h"
#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "test/unit/lib/kube/script.h"
#include "test/unit/object.h"

#define DRIVER "disk.csi.azure.com"

/* In this order: later ones go by earlier ones. */
static const struct {
    const char *file, *object;
    bool taken;
} rows[] = {
    {"azvolumes.json", "{'metadata':{'namespace':'objects','name':'v'}}", true},
    {"csidrivers.json", "{'metadata':{'name':'" DRIVER "'}}", true},
    {"csidrivers.json", "{'metadata':{'name':'other'}}", false},
    {"csinodes.json", "{'metadata':{'name':'n'}}", true},
    {"storageclasses.json", "{'metadata':{'name':'ours'},'provisioner':'" DRIVER "'}", true},
    {"storageclasses.json", "{'metadata':{'name':'tree'},'provisioner':'kubernetes.io/azure-disk'}",
     true},
    {"storageclasses.json", "{'metadata':{'name':'other'},'provisioner':'other'}", false},
    {"volumeattributesclasses.json", "{'driverName':'" DRIVER "'}", true},
    {"volumeattributesclasses.json", "{'driverName':'other'}", false},
    {"volumesnapshotclasses.json", "{'driver':'" DRIVER "'}", true},
    {"volumesnapshotclasses.json", "{}", false},
    {"persistentvolumes.json", "{'metadata':{'name':'pv'},'spec':{'csi':{'driver':'" DRIVER "'}}}",
     true},
    {"persistentvolumes.json", "{'metadata':{'name':'tree'},'spec':{'azureDisk':{}}}", true},
    {"persistentvolumes.json", "{'metadata':{'name':'x'},'spec':{'csi':{'driver':'other'}}}",
     false},
    {"persistentvolumes.json", "{'metadata':{'name':'x'},'spec':{'nfs':{}}}", false},
    {"persistentvolumeclaims.json",
     "{'metadata':{'namespace':'a','name':'c'},'spec':{'volumeName':'pv'}}", true},
    {"persistentvolumeclaims.json",
     "{'metadata':{'namespace':'a','name':'d'},'spec':{'storageClassName':'ours'}}", true},
    {"persistentvolumeclaims.json",
     "{'metadata':{'namespace':'a','name':'e'},'spec':{'storageClassName':'other','volumeName':'x'}"
     "}",
     false},
    {"persistentvolumeclaims.json", "{'metadata':{'namespace':'a','name':'e'}}", false},
    {"volumeattachments.json", "{'spec':{'attacher':'" DRIVER "'}}", true},
    {"volumeattachments.json", "{'spec':{'attacher':'other'}}", false},
    {"leases.json", "{'metadata':{'namespace':'driver','name':'leader'}}", false},
    {"pods.json", "{'metadata':{'namespace':'driver','name':'pod'}}", true},
    {"leases.json", "{'metadata':{'namespace':'driver','name':'leader'}}", true},
    {"leases.json", "{'metadata':{'namespace':'objects','name':'n'}}", true},
    {"leases.json", "{'metadata':{'namespace':'kube-node-lease','name':'n'}}", true},
    {"leases.json", "{'metadata':{'namespace':'a','name':'n'}}", false},
    {"events.json", "{'regarding':{'kind':'PersistentVolumeClaim','namespace':'a','name':'c'}}",
     true},
    {"events.json", "{'regarding':{'kind':'PersistentVolumeClaim','namespace':'a','name':'e'}}",
     false},
    {"events.json", "{'regarding':{'kind':'PersistentVolumeClaim','namespace':'b','name':'c'}}",
     false},
    {"events.json", "{'regarding':{'kind':'PersistentVolume','name':'pv'}}", true},
    {"events.json", "{'regarding':{'kind':'Pod','namespace':'driver','name':'pod'}}", true},
    {"events.json", "{'regarding':{'kind':'Pod','namespace':'a','name':'pod'},'reason':'Pulled'}",
     false},
    {"events.json",
     "{'regarding':{'kind':'Pod','namespace':'a','name':'pod'},'reason':'FailedMount'}", true},
    {"events.json", "{}", false},
    {"secrets.json", "{'metadata':{'namespace':'objects','name':'s'}}", false},
};

static void test_which(void **state)
{
    CLEANUP(bundle_scope_fini) struct bundle_scope scope;

    (void)state;
    bundle_scope_init(&scope, DRIVER, "objects");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *object = json_of(rows[i].object);

        if (bundle_takes(rows[i].file, &scope, object) != rows[i].taken)
            fail_msg("%s: %s", rows[i].file, rows[i].object);
    }
}

/* In-tree volumes are those of one driver. */
static void test_another_driver(void **state)
{
    CLEANUP(bundle_scope_fini) struct bundle_scope scope;
    CLEANUP(json_decrefp) json_t *tree = json_of("{'spec':{'azureDisk':{}}}");
    CLEANUP(json_decrefp)
    json_t *class = json_of("{'provisioner':'kubernetes.io/azure-disk'}");

    (void)state;
    bundle_scope_init(&scope, "other", "objects");
    assert_false(bundle_takes("persistentvolumes.json", &scope, tree));
    assert_false(bundle_takes("storageclasses.json", &scope, class));
}

static void test_logs(void **state)
{
    CLEANUP(json_decrefp)
    json_t *node = json_of(
        "{'metadata':{'namespace':'d','name':'node','ownerReferences':[{'kind':'DaemonSet'}]},"
        "'status':{'containerStatuses':[{'name':'a','containerID':'x'}]}}");
    CLEANUP(json_decrefp)
    json_t *pod =
        json_of("{'metadata':{'namespace':'d','name':'pod'},'spec':{'nodeName':'n'},'status':{"
                "'initContainerStatuses':[{'name':'i','containerID':'x'}],'containerStatuses':["
                "{'name':'a','containerID':'y','state':{'running':{}},"
                "'lastState':{'terminated':{'exitCode':1}}},{'name':'b'},"
                "{'name':'c','containerID':'','lastState':{'terminated':{}}}]}}");
    CLEANUP(json_decrefp) json_t *odd = json_of("{'status':{'containerStatuses':[{},1]}}");
    CLEANUP(json_decrefp) json_t *sources = json_array();
    CLEANUP(json_decrefp)
    json_t *expected = json_of(
        "[{'namespace':'d','pod':'pod','container':'i','previous':false,'daemon':false,'node':'n',"
        "'id':'x','running':false},"
        "{'namespace':'d','pod':'pod','container':'a','previous':false,'daemon':false,'node':'n',"
        "'id':'y','running':true},"
        "{'namespace':'d','pod':'pod','container':'a','previous':true,'daemon':false,'node':'n',"
        "'id':'y','running':false},"
        "{'namespace':'d','pod':'pod','container':'c','previous':true,'daemon':false,'node':'n',"
        "'id':'','running':false},"
        "{'namespace':'d','pod':'node','container':'a','previous':false,'daemon':true,'node':null,"
        "'id':'x','running':false}]");

    (void)state;
    log_sources_add(sources, node);
    log_sources_add(sources, pod);
    log_sources_add(sources, odd);
    CLEANUP(json_decrefp) json_t *ordered = log_sources_ordered(sources);
    CLEANUP(freep) char *text = json_to_text(ordered), *want = json_to_text(expected);
    assert_string_equal(text, want);
}

struct collecting {
    struct kube *kube;
    const struct bundle_folder *folder;
    json_t *files;
};

static void collect_task(struct task *self, void *arg)
{
    struct collecting *collecting = arg;
    CLEANUP(bundle_scope_fini) struct bundle_scope scope;

    bundle_scope_init(&scope, DRIVER, "objects");
    assert_ok(
        bundle_objects(self, collecting->kube, collecting->folder, &scope, collecting->files));
}

/* The first list comes in parts; all that follows is refused. */
static void test_a_page_that_is_late_is_asked_for_in_parts(void **state)
{
    char path[] = "/tmp/test_bundle_objects.XXXXXX";
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    CLEANUP(json_decrefp) json_t *files = json_array();
    struct script_step steps[SCRIPT_MAX_STEPS] = {
        {.request = "GET *azvolumes?limit=500", .takes_ms = 2 * KUBE_CALL_TIMEOUT_MS},
        SCRIPT_ANSWER("GET *azvolumes?limit=125", 200,
                      "{'metadata':{'resourceVersion':'9'},'items':[{'metadata':{}}]}"),
    };
    struct bundle_folder folder;
    struct script script;

    (void)state;
    for (size_t i = 2; i < COUNT_OF(steps); i++)
        steps[i] = (struct script_step)SCRIPT_ANSWER("*", 403, "{'kind':'Status'}");
    assert_non_null(mkdtemp(path));
    assert_ok(bundle_folder_open(path, &folder));
    script_init(&script, loop, steps, COUNT_OF(steps));
    struct kube *kube = script_client(&script, NULL);
    struct collecting collecting = {.kube = kube, .folder = &folder, .files = files};
    loop_spawn(loop, "collect", collect_task, &collecting);
    loop_run(loop);
    kube_free(kube);
    const json_t *first = json_array_get(files, 0);
    assert_int_equal(json_integer_value(json_object_get(first, "objects")), 1);
    assert_null(json_object_get(first, "error"));
    assert_int_equal(unlinkat(folder.fd, text_of(first, "file"), 0), 0);
    bundle_folder_close(&folder);
    assert_int_equal(rmdir(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which),
        cmocka_unit_test(test_another_driver),
        cmocka_unit_test(test_logs),
        cmocka_unit_test(test_a_page_that_is_late_is_asked_for_in_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
