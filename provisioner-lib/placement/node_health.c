#include "provisioner-lib/placement/node_health.h"

#include "provisioner-lib/records/driver_node.h"

/* That it is not ready is believed of a plug-in that has had no heartbeat yet; that it is, is not.
 */
struct node_report node_report_of(const Api__AzDriverNode *node)
{
    const Api__AzDriverNodeStatus *status = node->status;
    bool has_heartbeat = status && status->last_heartbeat_time;

    if (!status || !status->has_ready_for_volume_allocation)
        return (struct node_report){NODE_SILENT, 0};
    if (!status->ready_for_volume_allocation)
        return (struct node_report){NODE_NOT_READY,
                                    has_heartbeat ? driver_node_heard_us(node) : HEARD_ALWAYS};
    return (struct node_report){has_heartbeat ? NODE_HEALTHY : NODE_SILENT,
                                driver_node_heard_us(node)};
}

bool node_report_is_current(int64_t heard_us, int64_t now_us, uint64_t heartbeat_limit_ms)
{
    return !heartbeat_is_stale(heard_us, now_us, heartbeat_limit_ms);
}
