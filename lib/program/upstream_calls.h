/* upstream_calls.h - CSI's calls, counted by the names that the Azure Disk CSI driver's metrics
 * have, for dashboards and alerts that know them.
 *
 * Only calls that it counts. Beside METRIC_CSI_OPERATIONS, with the same values.
 */
#pragma once

#include <stdbool.h>

#include "lib/base/metrics.h"

extern struct metric METRIC_UPSTREAM_CALLS, METRIC_UPSTREAM_CALL_SECONDS;

/* "controller_create_volume" for "/csi.v1.Controller/CreateVolume"; NULL: it does not count that.
 */
const char *upstream_operation(const char *method);

/* Any thread. */
void upstream_count_call(const char *method, bool succeeded, double seconds);
