/* CreateVolume and CreateSnapshot after a creation that failed for good, and that the leader was
 * about to forget: what they write on what is left of it. */
#include "controller/csi/service.h"
#include "lib/api/csi.pb-c.h"
#include "provisioner-lib/cloud.h"
#include "provisioner-lib/records/names.h"
#include "test/unit/controller/controller_of.h"
#include "test/unit/lib/kube/script.h"

#define RECORDS "/apis/disk.csi.azure.com/v1beta2/namespaces/d/"
#define TAKEN "{'kind':'Status','reason':'AlreadyExists','message':'taken'}"
#define META(version)                                                                              \
    "'metadata':{'namespace':'d','name':'x','uid':'u','resourceVersion':'" version "'}"
/* The leader has written that it is to be deleted, and then it was not. */
#define FAILED                                                                                     \
    "'status':{'state':'CreationFailed','error':{'code':'INTERNAL','message':'failed'},"           \
    "'annotation':{'" ANNOTATION_FORGET_AFTER "':'2026-01-01T00:00:00Z',"                          \
    "'" ANNOTATION_DELETE_REQUEST "':'creation-failed'}}"
#define BEGUN_ANEW                                                                                 \
    "{'status':{'state':'Pending','error':null,'annotation':{'" ANNOTATION_FORGET_AFTER            \
    "':null,'" ANNOTATION_DELETE_REQUEST "':null}},'metadata':{'resourceVersion':'2'}}"

/* ---- the world ---- */

struct call {
    struct rpc_call rpc;
    struct err *err;
    char *id; /* of what was made */
};

static struct err *limits(struct task *self, struct cloud *cloud,
                          const struct volume_parameters *parameters, int64_t size_gib,
                          struct disk_limits *ret)
{
    (void)self, (void)cloud, (void)parameters, (void)size_gib;
    *ret = (struct disk_limits){.least_gib = 1, .most_gib = 32767};
    return NULL;
}

static struct err *snapshot_id(struct cloud *cloud, const struct cloud_snapshot_spec *spec,
                               char **ret_id)
{
    (void)cloud;
    *ret_id = mem_printf(GROUP_SNAPSHOTS "%s", spec->name);
    return NULL;
}

/* The id of what a call has made, by this script. */
static char *play(const char *cluster, const struct script_step *steps, size_t n, task_fn *main)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    CLEANUP(json_decrefp) json_t *json = json_of(cluster);
    CLEANUP(view_free) struct cluster_view view = view_of(json);
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(controller_fini) struct controller controller = controller_of(&view);
    struct cloud_ops ops = *controller.cloud->ops;
    struct cloud cloud = {&ops};
    struct call call = {.rpc = {.ctx = &controller, .arena = arena, .deadline = 60 * 1000}};
    struct script script;

    ops.disk_limits = limits;
    ops.snapshot_id = snapshot_id;
    script_init(&script, loop, steps, n);
    controller.loop = loop;
    controller.cloud = &cloud;
    controller.settings.namespace_ = "d";
    controller.kube = script_client(&script, NULL);
    store_end_list(controller.snapshots, 1);
    loop_spawn(loop, "call", main, &call);
    loop_run(loop);
    assert_ok(call.err);
    assert_int_equal(script.next, n);
    assert_int_equal(script.unanswered, 0);
    kube_free(controller.kube);
    return call.id;
}

/* ---- volumes ---- */

#define VOLUME_OF(version, status) "{" META(version) ",'spec':{'volumeName':'x'}," status "}"

static void create_volume(struct task *self, void *arg)
{
    struct call *call = arg;
    Csi__V1__VolumeCapability__MountVolume mount;
    Csi__V1__VolumeCapability__AccessMode mode;
    Csi__V1__VolumeCapability capability, *capabilities = &capability;
    Csi__V1__CreateVolumeRequest request;
    Csi__V1__CreateVolumeResponse response;

    csi__v1__volume_capability__mount_volume__init(&mount);
    csi__v1__volume_capability__access_mode__init(&mode);
    mode.mode = CSI__V1__VOLUME_CAPABILITY__ACCESS_MODE__MODE__SINGLE_NODE_WRITER;
    csi__v1__volume_capability__init(&capability);
    capability.access_type_case = CSI__V1__VOLUME_CAPABILITY__ACCESS_TYPE_MOUNT;
    capability.mount = &mount;
    capability.access_mode = &mode;
    csi__v1__create_volume_request__init(&request);
    request.name = (char[]){"x"};
    request.volume_capabilities = &capabilities;
    request.n_volume_capabilities = 1;
    csi__v1__create_volume_response__init(&response);
    call->err = csi_create_volume(self, &call->rpc, &request, &response);
    call->id = call->err ? NULL : mem_strdup(response.volume->volume_id);
}

static void test_volume(void **state)
{
    static const char was[] = VOLUME_OF("1", FAILED);
    static const struct script_step steps[] = {
        SCRIPT_ANSWER("POST " RECORDS "azvolumes *", 409, TAKEN),
        SCRIPT_ANSWER("GET " RECORDS "azvolumes/x", 200, was),
        SCRIPT_ANSWER("PATCH " RECORDS "azvolumes/x *", 200, VOLUME_OF("2", FAILED)),
        SCRIPT_ANSWER("PATCH " RECORDS "azvolumes/x/status " BEGUN_ANEW, 200,
                      VOLUME_OF("3",
                                "'status':{'state':'Created','detail':{'volume_id':'" GROUP_DISKS
                                "x','accessible_topology':[{'segments':{}}]}}")),
    };
    CLEANUP(freep) char *cluster = mem_printf("{'volumes':[%s]}", was);

    (void)state;
    CLEANUP(freep) char *id = play(cluster, steps, COUNT_OF(steps), create_volume);
    assert_string_equal(id, GROUP_DISKS "x");
}

/* ---- snapshots ---- */

#define SNAPSHOT_OF(version, status)                                                               \
    "{" META(version) ",'spec':{'snapshotName':'x','sourceVolumeId':'" GROUP_DISKS "v'}," status "}"

static void create_snapshot(struct task *self, void *arg)
{
    struct call *call = arg;
    Csi__V1__CreateSnapshotRequest request;
    Csi__V1__CreateSnapshotResponse response;

    csi__v1__create_snapshot_request__init(&request);
    request.name = (char[]){"x"};
    request.source_volume_id = (char[]){GROUP_DISKS "v"};
    csi__v1__create_snapshot_response__init(&response);
    call->err = csi_create_snapshot(self, &call->rpc, &request, &response);
    call->id = call->err ? NULL : mem_strdup(response.snapshot->snapshot_id);
}

static void test_snapshot(void **state)
{
    static const char was[] = SNAPSHOT_OF("1", FAILED);
    static const struct script_step steps[] = {
        SCRIPT_ANSWER("POST " RECORDS "azsnapshots *", 409, TAKEN),
        SCRIPT_ANSWER("GET " RECORDS "azsnapshots/x", 200, was),
        SCRIPT_ANSWER("PATCH " RECORDS "azsnapshots/x *", 200, SNAPSHOT_OF("2", FAILED)),
        SCRIPT_ANSWER(
            "PATCH " RECORDS "azsnapshots/x/status " BEGUN_ANEW, 200,
            SNAPSHOT_OF("3", "'status':{'state':'Created','snapshotId':'" GROUP_SNAPSHOTS "x'}")),
    };
    CLEANUP(freep) char *cluster = mem_printf("{'snapshots':[%s]}", was);

    (void)state;
    CLEANUP(freep) char *id = play(cluster, steps, COUNT_OF(steps), create_snapshot);
    assert_string_equal(id, GROUP_SNAPSHOTS "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_volume),
        cmocka_unit_test(test_snapshot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
