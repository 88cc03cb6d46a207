/* azure_metrics.h - what the client of Azure counts. A program that uses it lists them in its own
 * table.
 */
#pragma once

#include "lib/base/metrics.h"

extern struct metric METRIC_AZURE_REQUESTS, METRIC_AZURE_REQUEST_SECONDS, METRIC_AZURE_RETRIES,
    METRIC_AZURE_GATE_SECONDS, METRIC_AZURE_VM_UPDATE_DISKS, METRIC_AZURE_VM_QUEUE_SECONDS,
    METRIC_AZURE_BUDGET_LEFT, METRIC_AZURE_SKU_SOURCE;

/* What alerts and dashboards watch begins at 0: refusals for want of budget, permissions or quota.
 */
void azure_metrics_begin(void);
