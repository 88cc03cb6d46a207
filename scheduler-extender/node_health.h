/* node_health.h - whether a node can take volumes, as far as its plug-in has told.
 *
 * A pure function of the plug-in's last word and its age. Old news, good or bad, is no news: a
 * plug-in that was removed, or an API server that we lost, must not keep pods from being scheduled.
 */
#pragma once

#include <stdint.h>

#include "lib/api/azdisk.pb-c.h"

enum node_health {
    NODE_SILENT, /* nothing was heard, or nothing lately */
    NODE_NOT_READY,
    NODE_HEALTHY,
};

/* `node` NULL: nothing was heard. */
enum node_health node_health_of(const Api__AzDriverNode *node, int64_t now_us,
                                uint64_t heartbeat_limit_ms);
