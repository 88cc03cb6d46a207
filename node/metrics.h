/* metrics.h - what the node plug-in counts. A new metric is a definition here, one in metrics.c and
 * a word in its table.
 */
#pragma once

#include "lib/base/metrics.h"
#include "node/node.h"

extern struct metric METRIC_STAGE_SECONDS, METRIC_PROOFS, METRIC_FENCES, METRIC_HEARTBEATS,
    METRIC_NODE_LEASE, METRIC_PREEMPT_REQUESTS;

extern struct metric *const NODE_METRICS[];
extern const size_t N_NODE_METRICS;

/* Sets the gauges that follow from the state of the node. */
void metrics_refresh(const struct node *node);
