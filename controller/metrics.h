/* metrics.h - what the controller counts. A new metric is a definition here, one in metrics.c and a
 * word in its table.
 */
#pragma once

#include "controller/controller.h"
#include "lib/base/metrics.h"
#include "provisioner-lib/azure/config.h"

extern struct metric METRIC_RECONCILES, METRIC_RECONCILE_SECONDS, METRIC_AUDIT_FINDINGS,
    METRIC_AUDIT_SCANS, METRIC_FAILOVERS, METRIC_FAILOVER_SECONDS, METRIC_SILENT_NODES,
    METRIC_LACKING_REPLICAS, METRIC_PODS_NOMINATED, METRIC_PODS_UNGATED, METRIC_GATE_SECONDS,
    METRIC_WEBHOOK_CERTIFICATE_BEGINS, METRIC_WEBHOOK_CERTIFICATE_ENDS;

/* Deprecated names of METRIC_AUDIT_FINDINGS and METRIC_AUDIT_SCANS, with the same values; 0.2.0
 * removes them (docs/upgrading.md). */
extern struct metric METRIC_AUDIT_DIFFERENCES, METRIC_AUDIT_LOOKS;

extern struct metric *const CONTROLLER_METRICS[];
extern const size_t N_CONTROLLER_METRICS;

/* A CSI call, as version 2 of the Azure Disk CSI driver counts it, beside METRIC_CSI_OPERATIONS. */
void metrics_count_operation(const char *driver_name, const struct azure_config *config,
                             const char *method, bool succeeded, uint64_t duration_ms);

/* Sets the gauges that follow from the stores and queues. */
void metrics_refresh(const struct controller *controller, bool leads);
