#include "test/unit/controller/csi/csi_call.h"

#include "controller/csi/service.h"
#include "provisioner-lib/cloud.h"

/* ---- the cloud ---- */

static struct err *limits(struct task *self, struct cloud *cloud,
                          const struct volume_parameters *parameters, int64_t size_gib,
                          struct disk_limits *ret)
{
    (void)self, (void)cloud, (void)parameters, (void)size_gib;
    *ret = (struct disk_limits){.least_gib = 1, .most_gib = 32767};
    return NULL;
}

static struct err *get_disk(struct task *self, struct cloud *cloud, const char *disk_id,
                            struct cloud_disk *ret)
{
    (void)self, (void)cloud;
    *ret = (struct cloud_disk){.id = mem_strdup(disk_id),
                               .sku = mem_strdup("PremiumV2_LRS"),
                               .size_bytes = 64 * GIB,
                               .max_shares = 1,
                               .percent = 100};
    return NULL;
}

static struct err *snapshot_id(struct cloud *cloud, const struct cloud_snapshot_spec *spec,
                               char **ret_id)
{
    (void)cloud;
    *ret_id = mem_printf(GROUP_SNAPSHOTS "%s", spec->name);
    return NULL;
}

/* ---- the call ---- */

void csi_play(struct csi_call *call, const char *cluster, const struct script_step *steps, size_t n,
              task_fn *task)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    CLEANUP(json_decrefp) json_t *json = json_of(cluster);
    CLEANUP(view_free) struct cluster_view view = view_of(json);
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(controller_fini) struct controller controller = controller_of(&view);
    struct cloud_ops ops = *controller.cloud->ops;
    struct cloud cloud = {&ops};
    struct script script;

    ops.disk_limits = limits;
    ops.disk_get = get_disk;
    ops.snapshot_id = snapshot_id;
    script_init(&script, loop, steps, n);
    controller.loop = loop;
    controller.cloud = &cloud;
    controller.settings.namespace_ = "d";
    controller.kube = script_client(&script, NULL);
    store_end_list(controller.snapshots, 1);
    call->rpc = (struct rpc_call){.ctx = &controller, .arena = arena, .deadline = 60 * 1000};
    loop_spawn(loop, "call", task, call);
    loop_run(loop);
    assert_int_equal(script.next, n);
    assert_int_equal(script.unanswered, 0);
    kube_free(controller.kube);
}

Csi__V1__VolumeCapability *single_writer(struct single_writer *ret)
{
    csi__v1__volume_capability__mount_volume__init(&ret->mount);
    csi__v1__volume_capability__access_mode__init(&ret->mode);
    ret->mode.mode = CSI__V1__VOLUME_CAPABILITY__ACCESS_MODE__MODE__SINGLE_NODE_WRITER;
    csi__v1__volume_capability__init(&ret->capability);
    ret->capability.access_type_case = CSI__V1__VOLUME_CAPABILITY__ACCESS_TYPE_MOUNT;
    ret->capability.mount = &ret->mount;
    ret->capability.access_mode = &ret->mode;
    return &ret->capability;
}

void create_volume(struct task *self, void *arg)
{
    struct csi_call *call = arg;
    struct single_writer writer;
    Csi__V1__VolumeCapability *capability = single_writer(&writer);
    Csi__V1__CapacityRange range;
    Csi__V1__CreateVolumeRequest request;
    Csi__V1__CreateVolumeResponse response;

    csi__v1__capacity_range__init(&range);
    range.required_bytes = call->bytes;
    csi__v1__create_volume_request__init(&request);
    request.name = (char[]){"x"};
    request.volume_capabilities = &capability;
    request.n_volume_capabilities = 1;
    request.capacity_range = &range;
    csi__v1__create_volume_response__init(&response);
    call->err = csi_create_volume(self, &call->rpc, &request, &response);
    call->id = call->err ? NULL : mem_strdup(response.volume->volume_id);
}

void create_snapshot(struct task *self, void *arg)
{
    struct csi_call *call = arg;
    Csi__V1__CreateSnapshotRequest request;
    Csi__V1__CreateSnapshotResponse response;

    csi__v1__create_snapshot_request__init(&request);
    request.name = (char[]){"x"};
    request.source_volume_id = (char[]){GROUP_DISKS "v"};
    csi__v1__create_snapshot_response__init(&response);
    call->err = csi_create_snapshot(self, &call->rpc, &request, &response);
    call->id = call->err ? NULL : mem_strdup(response.snapshot->snapshot_id);
}
