/* Requests to a node's CSI services and to its registration. The first byte says which: '0' and on
 * are the rows below, in their order. */
#include "lib/api/csi.pb-c.h"
#include "lib/api/pluginregistration.pb-c.h"
#include "lib/rpc/unpack.h"
#include "node/volume_access.h"
#include "test/fuzz/input.h"

static const ProtobufCMessageDescriptor *const types[] = {
    &csi__v1__node_stage_volume_request__descriptor,
    &csi__v1__node_publish_volume_request__descriptor,
    &csi__v1__node_unstage_volume_request__descriptor,
    &csi__v1__node_unpublish_volume_request__descriptor,
    &csi__v1__node_get_info_request__descriptor,
    &csi__v1__probe_request__descriptor,
    &pluginregistration__registration_status__descriptor,
    &csi__v1__node_get_volume_stats_request__descriptor,
};

static void check_access(const Csi__V1__VolumeCapability *capability, void *context, size_t n,
                         const char *path, struct arena *arena)
{
    struct volume_access access;

    if (input_taken(volume_path_check("path", path)))
        MUST(path[0] == '/');
    if (!input_taken(volume_access_read(capability, context, n, arena, &access)))
        return;
    MUST(access.raw || (access.filesystem && access.options));
    for (size_t i = 0; i < access.n_options; i++)
        MUST(access.options[i]);
}

static void check(const ProtobufCMessage *message, struct arena *arena)
{
    const void *request = message;

    if (message->descriptor == types[0]) {
        const Csi__V1__NodeStageVolumeRequest *stage = request;

        check_access(stage->volume_capability, stage->volume_context, stage->n_volume_context,
                     stage->staging_target_path, arena);
    }
    if (message->descriptor == types[1]) {
        const Csi__V1__NodePublishVolumeRequest *publish = request;

        check_access(publish->volume_capability, publish->volume_context, publish->n_volume_context,
                     publish->target_path, arena);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    size_t index = size > 0 ? (size_t)data[0] - '0' : COUNT_OF(types);
    ProtobufCMessage *message;

    if (index < COUNT_OF(types) &&
        input_taken(rpc_unpack(types[index], data + 1, size - 1, arena, &message)))
        check(message, arena);
    return 0;
}
