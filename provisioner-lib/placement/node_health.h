/* node_health.h - whether a node can take volumes, as far as its plug-in has told.
 *
 * A pure function of the plug-in's last word and its age. Old news, good or bad, is no news: a
 * plug-in that was removed, or an API server that we lost, must not keep pods from being scheduled.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/api/azdisk.pb-c.h"

enum node_health {
    NODE_SILENT, /* nothing was heard, or nothing lately */
    NODE_NOT_READY,
    NODE_HEALTHY,
    N_NODE_HEALTHS,
};

/* What a plug-in has told last: `health`, until that is too old. */
struct node_report {
    enum node_health health;
    int64_t heard_us; /* 0: too old already; HEARD_ALWAYS: never too old */
};

#define HEARD_ALWAYS INT64_MAX

struct node_report node_report_of(const Api__AzDriverNode *node);
bool node_report_is_current(int64_t heard_us, int64_t now_us, uint64_t heartbeat_limit_ms);
