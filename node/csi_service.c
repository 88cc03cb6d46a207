#include "node/csi_service.h"

#include <stdlib.h>

#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"

enum { TIME_TO_ANSWER_MS = 500 };

struct err *csi_claim(struct node *node, const char *volume_id, struct csi_claim *ret)
{
    if (!volume_id[0])
        return err_new(ERR_INVALID, "volume_id is missing");
    CLEANUP(freep) char *volume = mem_lower(volume_id);

    TRY(in_flight_begin(&node->volumes, volume));
    *ret = (struct csi_claim){.node = node, .volume = TAKE_PTR(volume)};
    return NULL;
}

void csi_release(struct csi_claim *claim)
{
    if (!claim->volume)
        return;
    in_flight_end(&claim->node->volumes, claim->volume);
    free(claim->volume);
}

uint64_t csi_wait_deadline(struct node *node, const struct rpc_call *call)
{
    uint64_t now = loop_now(node->loop);

    return call->deadline > now + 2 * TIME_TO_ANSWER_MS ? call->deadline - TIME_TO_ANSWER_MS : now;
}

static const struct rpc_method methods[] = {
    {"NodeStageVolume", csi_stage_volume},
    {"NodeUnstageVolume", csi_unstage_volume},
    {"NodePublishVolume", csi_publish_volume},
    {"NodeUnpublishVolume", csi_unpublish_volume},
    {"NodeExpandVolume", csi_expand_volume},
    {"NodeGetVolumeStats", csi_get_volume_stats},
    {"NodeGetInfo", csi_get_info},
    {"NodeGetCapabilities", csi_get_capabilities},
};

struct rpc_service csi_node_service(struct node *node)
{
    return (struct rpc_service){
        .descriptor = &csi__v1__node__descriptor,
        .methods = methods,
        .n_methods = COUNT_OF(methods),
        .ctx = node,
    };
}
