/* csi_call.h - a CSI call that has been answered, counted and told to the log.
 */
#pragma once

#include "lib/base/log.h"
#include "lib/base/metrics.h"
#include "lib/rpc/server.h"

extern struct metric METRIC_CSI_OPERATIONS;

/* Any thread. */
void csi_call_count(const char *driver_name, const struct rpc_outcome *outcome);

/* With the names and IDs in its request, by which azdiskctl logs finds what was done with a volume.
 * Failures are warnings; the level of success is `success`, and debug for a call that names
 * nothing, as sidecars ask whether the driver is there every few seconds. Any thread. */
void csi_call_log(const struct rpc_outcome *outcome, enum log_level success);
