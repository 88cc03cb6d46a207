#include "test/sim/csi_request.h"

#include "lib/base/alloc.h"
#include "provisioner-lib/disk_sku.h"
#include "test/azsim/model/model.h"
#include "test/sim/azure_side.h"
#include "test/sim/controller_process.h"
#include "test/sim/world.h"

#define ZONE_LABEL "topology.disk.csi.azure.com/zone"
/* In a hundred calls. */
enum { ABANDONED = 2, DUPLICATED = 2 };

enum { PAGE = 8 };

/* ---- parts of messages ---- */

/* One more entry of a map of texts. */
#define ADD_ENTRY(arena, message, field, entry_type, init, key_, value_)                           \
    do {                                                                                           \
        entry_type *entry_ = arena_alloc((arena), sizeof *entry_);                                 \
        init(entry_);                                                                              \
        entry_->key = arena_strdup((arena), (key_));                                               \
        entry_->value = arena_strdup((arena), (value_));                                           \
        (message)->field[(message)->n_##field++] = entry_;                                         \
    } while (0)

static Csi__V1__VolumeCapability *capability_of(struct arena *arena, const struct volume *volume)
{
    Csi__V1__VolumeCapability *capability = arena_alloc(arena, sizeof *capability);
    Csi__V1__VolumeCapability__AccessMode *mode = arena_alloc(arena, sizeof *mode);

    csi__v1__volume_capability__init(capability);
    csi__v1__volume_capability__access_mode__init(mode);
    capability->access_mode = mode;
    if (volume->wish.block) {
        mode->mode = CSI__V1__VOLUME_CAPABILITY__ACCESS_MODE__MODE__MULTI_NODE_MULTI_WRITER;
        capability->access_type_case = CSI__V1__VOLUME_CAPABILITY__ACCESS_TYPE_BLOCK;
        capability->block = arena_alloc(arena, sizeof *capability->block);
        csi__v1__volume_capability__block_volume__init(capability->block);
    } else {
        mode->mode = CSI__V1__VOLUME_CAPABILITY__ACCESS_MODE__MODE__SINGLE_NODE_WRITER;
        capability->access_type_case = CSI__V1__VOLUME_CAPABILITY__ACCESS_TYPE_MOUNT;
        capability->mount = arena_alloc(arena, sizeof *capability->mount);
        csi__v1__volume_capability__mount_volume__init(capability->mount);
        capability->mount->fs_type = arena_strdup(arena, "ext4");
    }
    return capability;
}

static void add_parameter(struct arena *arena, Csi__V1__CreateVolumeRequest *request,
                          const char *key, const char *value)
{
    ADD_ENTRY(arena, request, parameters, Csi__V1__CreateVolumeRequest__ParametersEntry,
              csi__v1__create_volume_request__parameters_entry__init, key, value);
}

/* external-provisioner with --strict-topology: where the first pod's node is, and nowhere else. */
static Csi__V1__TopologyRequirement *topology_of(struct arena *arena, const struct volume *volume)
{
    Csi__V1__TopologyRequirement *requirement = arena_alloc(arena, sizeof *requirement);
    Csi__V1__Topology **topologies = arena_alloc(arena, sizeof *topologies);
    Csi__V1__Topology *topology = arena_alloc(arena, sizeof *topology);

    csi__v1__topology_requirement__init(requirement);
    csi__v1__topology__init(topology);
    topology->segments = arena_alloc(arena, sizeof *topology->segments);
    ADD_ENTRY(arena, topology, segments, Csi__V1__Topology__SegmentsEntry,
              csi__v1__topology__segments_entry__init, ZONE_LABEL,
              arena_printf(arena, "eastus-%d", volume->chosen_zone + 1));
    topologies[0] = topology;
    requirement->requisite = requirement->preferred = topologies;
    requirement->n_requisite = requirement->n_preferred = 1;
    return requirement;
}

/* NULL: nothing */
static Csi__V1__VolumeContentSource *source_of(struct arena *arena,
                                               const struct copy_source *source)
{
    Csi__V1__VolumeContentSource *message = arena_alloc(arena, sizeof *message);

    if (!copy_source_is_any(source))
        return NULL;
    csi__v1__volume_content_source__init(message);
    if (source->snapshot) {
        message->type_case = CSI__V1__VOLUME_CONTENT_SOURCE__TYPE_SNAPSHOT;
        message->snapshot = arena_alloc(arena, sizeof *message->snapshot);
        csi__v1__volume_content_source__snapshot_source__init(message->snapshot);
        message->snapshot->snapshot_id = arena_strdup(arena, copy_source_id(source));
    } else {
        message->type_case = CSI__V1__VOLUME_CONTENT_SOURCE__TYPE_VOLUME;
        message->volume = arena_alloc(arena, sizeof *message->volume);
        csi__v1__volume_content_source__volume_source__init(message->volume);
        message->volume->volume_id = arena_strdup(arena, copy_source_id(source));
    }
    return message;
}

/* ---- messages ---- */

const ProtobufCMessage *csi_request_create(struct arena *arena, const struct volume *volume)
{
    enum { PARAMETERS = 10 };
    const struct volume_wish *wish = &volume->wish;
    const struct sim *sim = volume->world->sim;
    const struct group *group = azure_side_disk_group(sim->azure, &sim->landscape);
    Csi__V1__CreateVolumeRequest *request = arena_alloc(arena, sizeof *request);

    csi__v1__create_volume_request__init(request);
    request->name = arena_strdup(arena, volume->pv);
    request->capacity_range = arena_alloc(arena, sizeof *request->capacity_range);
    csi__v1__capacity_range__init(request->capacity_range);
    request->capacity_range->required_bytes = volume->gib * GIB;
    request->volume_content_source = source_of(arena, &wish->source);
    request->volume_capabilities = arena_alloc(arena, sizeof *request->volume_capabilities);
    request->volume_capabilities[0] = capability_of(arena, volume);
    request->n_volume_capabilities = 1;
    request->parameters = arena_alloc(arena, PARAMETERS * sizeof *request->parameters);
    add_parameter(arena, request, "skuName",
                  wish->fast    ? "PremiumV2_LRS"
                  : wish->zonal ? "Premium_LRS"
                                : "Premium_ZRS");
    add_parameter(arena, request, "maxShares", arena_printf(arena, "%u", wish->max_shares));
    add_parameter(arena, request, "cachingMode", "None");
    if (!wish->block)
        add_parameter(arena, request, "maxMountReplicaCount",
                      arena_printf(arena, "%u", wish->replicas));
    if (wish->failover && !wish->by_label)
        add_parameter(arena, request, "automaticFailover", "true");
    if (sim->landscape.disks_elsewhere)
        add_parameter(arena, request, "resourceGroup", group->name);
    if (sim->landscape.other_subscription)
        add_parameter(arena, request, "subscriptionID", group->subscription->id);
    add_parameter(arena, request, "csi.storage.k8s.io/pv/name", volume->pv);
    add_parameter(arena, request, "csi.storage.k8s.io/pvc/name", volume->claim);
    add_parameter(arena, request, "csi.storage.k8s.io/pvc/namespace", WORLD_POD_NAMESPACE);
    request->accessibility_requirements = topology_of(arena, volume);
    return &request->base;
}

const ProtobufCMessage *csi_request_delete(struct arena *arena, const struct volume *volume)
{
    Csi__V1__DeleteVolumeRequest *request = arena_alloc(arena, sizeof *request);

    csi__v1__delete_volume_request__init(request);
    request->volume_id = arena_strdup(arena, volume->handle);
    return &request->base;
}

const ProtobufCMessage *csi_request_create_snapshot(struct arena *arena,
                                                    const struct volume_snapshot *snapshot)
{
    Csi__V1__CreateSnapshotRequest *request = arena_alloc(arena, sizeof *request);

    csi__v1__create_snapshot_request__init(request);
    request->name = arena_strdup(arena, snapshot->name);
    request->source_volume_id = arena_strdup(arena, snapshot->source);
    request->parameters = arena_alloc(arena, sizeof *request->parameters);
    if (snapshot->location)
        ADD_ENTRY(arena, request, parameters, Csi__V1__CreateSnapshotRequest__ParametersEntry,
                  csi__v1__create_snapshot_request__parameters_entry__init, "location",
                  snapshot->location);
    return &request->base;
}

const ProtobufCMessage *csi_request_delete_snapshot(struct arena *arena,
                                                    const struct volume_snapshot *snapshot)
{
    Csi__V1__DeleteSnapshotRequest *request = arena_alloc(arena, sizeof *request);

    csi__v1__delete_snapshot_request__init(request);
    request->snapshot_id = arena_strdup(arena, snapshot->id);
    return &request->base;
}

const ProtobufCMessage *csi_request_publish(struct arena *arena,
                                            const struct publication *publication)
{
    const struct volume *volume = publication->volume;
    Csi__V1__ControllerPublishVolumeRequest *request = arena_alloc(arena, sizeof *request);
    json_t *context = volume->context;
    const char *key;
    json_t *value;

    csi__v1__controller_publish_volume_request__init(request);
    request->volume_id = arena_strdup(arena, volume->handle);
    request->node_id = arena_strdup(arena, publication->machine->name);
    request->volume_capability = capability_of(arena, volume);
    request->volume_context =
        arena_alloc(arena, (json_object_size(context) + 1) * sizeof *request->volume_context);
    json_object_foreach(context, key, value) {
        ADD_ENTRY(arena, request, volume_context,
                  Csi__V1__ControllerPublishVolumeRequest__VolumeContextEntry,
                  csi__v1__controller_publish_volume_request__volume_context_entry__init, key,
                  json_string_value(value));
    }
    return &request->base;
}

const ProtobufCMessage *csi_request_unpublish(struct arena *arena,
                                              const struct publication *publication)
{
    Csi__V1__ControllerUnpublishVolumeRequest *request = arena_alloc(arena, sizeof *request);

    csi__v1__controller_unpublish_volume_request__init(request);
    request->volume_id = arena_strdup(arena, publication->volume->handle);
    request->node_id = arena_strdup(arena, publication->machine->name);
    return &request->base;
}

const ProtobufCMessage *csi_request_expand(struct arena *arena, const struct volume *volume,
                                           int64_t bytes)
{
    Csi__V1__ControllerExpandVolumeRequest *request = arena_alloc(arena, sizeof *request);

    csi__v1__controller_expand_volume_request__init(request);
    request->volume_id = arena_strdup(arena, volume->handle);
    request->capacity_range = arena_alloc(arena, sizeof *request->capacity_range);
    csi__v1__capacity_range__init(request->capacity_range);
    request->capacity_range->required_bytes = bytes;
    request->volume_capability = capability_of(arena, volume);
    return &request->base;
}

const ProtobufCMessage *csi_request_modify(struct arena *arena, const struct volume *volume,
                                           const char *sku)
{
    Csi__V1__ControllerModifyVolumeRequest *request = arena_alloc(arena, sizeof *request);

    csi__v1__controller_modify_volume_request__init(request);
    request->volume_id = arena_strdup(arena, volume->handle);
    request->mutable_parameters = arena_alloc(arena, sizeof *request->mutable_parameters);
    ADD_ENTRY(arena, request, mutable_parameters,
              Csi__V1__ControllerModifyVolumeRequest__MutableParametersEntry,
              csi__v1__controller_modify_volume_request__mutable_parameters_entry__init, "skuName",
              sku);
    return &request->base;
}

const ProtobufCMessage *csi_request_list(struct arena *arena, const char *token)
{
    Csi__V1__ListVolumesRequest *request = arena_alloc(arena, sizeof *request);

    csi__v1__list_volumes_request__init(request);
    request->max_entries = PAGE;
    request->starting_token = arena_strdup(arena, token);
    return &request->base;
}

/* ---- the call ---- */

/* The same request a second time, while the first is under way. */
struct duplicate {
    struct world *world;
    const char *method;
    const ProtobufCMessage *request;
    uint64_t timeout_ms;
    bool done;
    bool failed; /* for good: nothing comes of it any more */
    struct waiters ended;
};

static struct err *send_once(struct task *self, struct world *world, const char *method,
                             const ProtobufCMessage *request, uint64_t timeout_ms,
                             ProtobufCMessage **ret_response)
{
    struct controller_process *process = sim_any_controller(world->sim);
    ProtobufCMessage *response = NULL;

    if (!process)
        return err_new(ERR_UNAVAILABLE, "%s: no controller serves", method);
    TRY(controller_process_call(self, process, method, request, timeout_ms, &response));
    if (ret_response)
        *ret_response = response;
    else
        protobuf_c_message_free_unpacked(response, NULL);
    return NULL;
}

static void send_again(struct task *self, void *arg)
{
    struct duplicate *duplicate = arg;

    err_free(task_sleep(self, world_draw(duplicate->world, 0, 500)));
    if (!task_is_cancelled(self)) {
        CLEANUP(err_freep)
        struct err *err = send_once(self, duplicate->world, duplicate->method, duplicate->request,
                                    duplicate->timeout_ms, NULL);
        duplicate->failed = err && !err_is_transient(err);
    }
    duplicate->done = true;
    waiters_wake(&duplicate->ended);
}

/* Who was told once that it failed, and once that it is done or that it may be yet, does not know,
 * and asks again. */
static struct err *send_twice(struct task *self, struct world *world, const char *method,
                              const ProtobufCMessage *request, uint64_t timeout_ms,
                              ProtobufCMessage **ret_response)
{
    struct duplicate duplicate = {.world = world,
                                  .method = method,
                                  .request = request,
                                  .timeout_ms = timeout_ms,
                                  .failed = true};

    waiters_init(&duplicate.ended);
    if (!group_spawn(&world->sim->tasks, "CSI call again", send_again, &duplicate))
        duplicate.done = true;
    struct err *err = send_once(self, world, method, request, timeout_ms, ret_response);
    while (!duplicate.done)
        wait_uninterruptible(self, &duplicate.ended);
    return err && !duplicate.failed ? err_as(err, ERR_TIMEOUT) : err;
}

struct err *csi_request_send(struct task *self, struct world *world, const char *method,
                             const ProtobufCMessage *request, uint64_t timeout_ms,
                             ProtobufCMessage **ret_response)
{
    if (world_chance(world, ABANDONED))
        timeout_ms = world_draw(world, 1, timeout_ms);
    if (world_chance(world, DUPLICATED))
        return send_twice(self, world, method, request, timeout_ms, ret_response);
    return send_once(self, world, method, request, timeout_ms, ret_response);
}
