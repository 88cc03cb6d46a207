#include "scheduler-extender/node_health.h"

#include "provisioner-lib/records/driver_node.h"

enum node_health node_health_of(const Api__AzDriverNode *node, int64_t now_us,
                                uint64_t heartbeat_limit_ms)
{
    const Api__AzDriverNodeStatus *status = node ? node->status : NULL;
    const char *heartbeat = status ? status->last_heartbeat_time : NULL;

    if (!status ||
        (heartbeat && heartbeat_is_stale(driver_node_heard_us(node), now_us, heartbeat_limit_ms)))
        return NODE_SILENT;
    if (status->has_ready_for_volume_allocation && !status->ready_for_volume_allocation)
        return NODE_NOT_READY;
    return heartbeat && status->has_ready_for_volume_allocation ? NODE_HEALTHY : NODE_SILENT;
}
