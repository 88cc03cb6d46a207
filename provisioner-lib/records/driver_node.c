#include "provisioner-lib/records/driver_node.h"

#include "lib/base/timestamp.h"

int64_t driver_node_heard_us(const Api__AzDriverNode *node)
{
    const Api__AzDriverNodeStatus *status = node->status;

    return status ? timestamp_noted(status->last_heartbeat_time) : 0;
}

const char *driver_node_boot_id(const Api__AzDriverNode *node)
{
    const Api__AzDriverNodeStatus *status = node->status;

    return status && status->boot_id && *status->boot_id ? status->boot_id : NULL;
}

bool heartbeat_is_stale(int64_t heard_us, int64_t now_us, uint64_t limit_ms)
{
    return !heard_us || now_us - heard_us >= (int64_t)limit_ms * 1000;
}
