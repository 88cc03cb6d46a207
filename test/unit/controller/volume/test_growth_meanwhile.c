/* A growth that is asked for while another step of the volume runs: what that step records does not
 * end it. */
#include "controller/controller.h"
#include "controller/volume/disk.h"
#include "provisioner-lib/cloud.h"
#include "provisioner-lib/records/names.h"
#include "provisioner-lib/records/volume.h"
#include "test/unit/controller/controller_of.h"
#include "test/unit/lib/kube/script.h"

#define VOLUMES "/apis/disk.csi.azure.com/v1beta2/namespaces/d/azvolumes"
/* 10 GiB are asked for; `bytes` are on record. */
#define RECORD(version, state, bytes, notes)                                                       \
    "{'metadata':{'namespace':'d','name':'v','uid':'u','resourceVersion':'" version                \
    "','finalizers':['" FINALIZER_VOLUME "'],'annotations':{'" ANNOTATION_DISK "':'" GROUP_DISKS   \
    "v'}},'spec':{'volumeName':'v','parameters':{'skuName':'Premium_LRS'},"                        \
    "'capacityRange':{'required_bytes':10737418240}},'status':{'state':'" state                    \
    "','annotation':{" notes "},'detail':{'volume_id':'" GROUP_DISKS "v','capacity_bytes':" bytes  \
    "}}}"
#define SEEN "'" ANNOTATION_DISK_UNIQUE_ID "':'1'"
#define TO_LOOK SEEN ",'" ANNOTATION_LOOK_REQUEST "':'1'"
#define FOUR "4294967296"
#define TEN "10737418240"
/* A merge patch that does not name the state, which comes first. */
#define WITHOUT_STATE "PATCH " VOLUMES "/v/status {'status':{'error':null,*"

static struct cloud_disk disk_of(int64_t gib)
{
    return (struct cloud_disk){
        .id = mem_strdup(GROUP_DISKS "v"),
        .unique_id = mem_strdup("1"),
        .size_bytes = gib * GIB,
        .max_shares = 1,
        .sku = mem_strdup("Premium_LRS"),
        .percent = 100,
        .region = mem_strdup("eastus"),
        .zone = mem_strdup("eastus-1"),
        .source_id = mem_strdup(""),
    };
}

static struct err *disk_get(struct task *self, struct cloud *cloud, const char *id,
                            struct cloud_disk *ret)
{
    (void)self, (void)cloud, (void)id;
    *ret = disk_of(4);
    return NULL;
}

static struct err *disk_change(struct task *self, struct cloud *cloud, const char *id,
                               const struct cloud_disk_change *change)
{
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = disk_of(change->size_gib);

    (void)cloud, (void)id;
    return change->record(self, change->ctx, &disk);
}

struct call {
    struct controller *controller;
    struct err *err;
};

static void reconcile(struct task *self, void *arg)
{
    struct call *call = arg;

    call->err = reconcile_volume(self, call->controller, "d/v");
}

static void read_disk(struct task *self, void *arg)
{
    struct call *call = arg;

    call->err =
        volume_disk_read(self, call->controller, store_get(call->controller->volumes, "d/v"));
}

static void play(const char *record, const struct script_step *steps, size_t n, task_fn *main)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    CLEANUP(freep) char *cluster = mem_printf("{'volumes':[%s]}", record);
    CLEANUP(json_decrefp) json_t *json = json_of(cluster);
    CLEANUP(view_free) struct cluster_view view = view_of(json);
    CLEANUP(controller_fini) struct controller controller = controller_of(&view);
    struct cloud_ops ops = *controller.cloud->ops;
    struct cloud cloud = {&ops};
    struct call call = {.controller = &controller};
    struct script script;

    ops.disk_get = disk_get;
    ops.disk_change = disk_change;
    script_init(&script, loop, steps, n);
    controller.loop = loop;
    controller.cloud = &cloud;
    controller.namespaces = store_new(&NAMESPACES);
    controller.settings.namespace_ = "d";
    controller.leader_kube = script_client(&script, NULL);
    loop_spawn(loop, "call", main, &call);
    loop_run(loop);
    assert_ok(call.err);
    assert_int_equal(script.next, n);
    assert_int_equal(script.unanswered, 0);
    kube_free(controller.leader_kube);
    store_free(controller.namespaces);
}

/* Which is found to be larger than the record says. */
static void test_while_the_disk_is_read(void **state)
{
    static const struct script_step steps[] = {
        SCRIPT_ANSWER(WITHOUT_STATE, 200, RECORD("2", "Updating", FOUR, SEEN)),
    };

    (void)state;
    play(RECORD("1", "Created", "1073741824", SEEN), steps, COUNT_OF(steps), read_disk);
}

static void test_while_a_look_is_to_come(void **state)
{
    static const struct script_step steps[] = {
        SCRIPT_ANSWER(WITHOUT_STATE, 200, RECORD("2", "Updating", FOUR, SEEN)),
        SCRIPT_ANSWER(WITHOUT_STATE "'capacity_bytes':" TEN "*", 200,
                      RECORD("3", "Updating", TEN, SEEN)),
        SCRIPT_ANSWER("PATCH " VOLUMES "/v/status {'status':{'state':'Updated',*", 200,
                      RECORD("4", "Updated", TEN, SEEN)),
    };

    (void)state;
    play(RECORD("1", "Updating", FOUR, TO_LOOK), steps, COUNT_OF(steps), reconcile);
}

/* Why the disk did not grow stays until a growth is asked for again. */
static void test_after_a_growth_that_failed(void **state)
{
    CLEANUP(json_decrefp)
    json_t *json = json_of("{'volumes':[" RECORD("1", "UpdateFailed", FOUR, SEEN) "]}");
    CLEANUP(view_free) struct cluster_view view = view_of(json);
    CLEANUP(controller_fini) struct controller controller = controller_of(&view);
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = disk_of(4);
    CLEANUP(json_decrefp)
    json_t *status = volume_disk_changed_json(&controller, as_volume(view.volumes.items[0]), &disk);

    (void)state;
    assert_null(json_object_get(status, "state"));
    assert_null(json_object_get(status, "error"));
    assert_non_null(json_object_get(status, "detail"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_while_the_disk_is_read),
        cmocka_unit_test(test_while_a_look_is_to_come),
        cmocka_unit_test(test_after_a_growth_that_failed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
