#include "scheduler-extender/node_health.h"

#include "lib/base/timestamp.h"

static bool is_stale(const char *heartbeat, int64_t now_us, uint64_t limit_ms)
{
    int64_t heard;
    CLEANUP(err_freep) struct err *err = timestamp_parse(heartbeat, &heard);

    return err || (now_us > heard && (uint64_t)(now_us - heard) / 1000 > limit_ms);
}

enum node_health node_health_of(const Api__AzDriverNodeStatus *status, int64_t now_us,
                                uint64_t heartbeat_limit_ms)
{
    const char *heartbeat = status ? status->last_heartbeat_time : NULL;

    if (!status || (heartbeat && is_stale(heartbeat, now_us, heartbeat_limit_ms)))
        return NODE_SILENT;
    if (status->has_ready_for_volume_allocation && !status->ready_for_volume_allocation)
        return NODE_NOT_READY;
    return heartbeat && status->has_ready_for_volume_allocation ? NODE_HEALTHY : NODE_SILENT;
}
