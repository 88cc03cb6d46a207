/* csi_driver.h - what the programs that serve CSI say of the driver, and count, alike.
 */
#pragma once

#include "lib/base/metrics.h"
#include "lib/rpc/csi_identity.h"

/* Of the driver as a whole: a program says them although another one serves some of them. */
extern const struct csi_capability CSI_DRIVER_CAPABILITIES[];
extern const size_t N_CSI_DRIVER_CAPABILITIES;

extern struct metric METRIC_CSI_OPERATIONS;

/* Counts a call that has been answered; `err` NULL: it succeeded. Any thread. */
void metrics_count_csi_call(const char *driver_name, const char *method, const struct err *err,
                            uint64_t duration_ms);
