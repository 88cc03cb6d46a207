/* csi_driver.h - what the programs that serve CSI say of the driver, and count, alike.
 */
#pragma once

#include "lib/base/metrics.h"
#include "lib/rpc/csi_identity.h"

/* With the capabilities of the driver as a whole: another program may be the one that has them. */
struct csi_identity csi_driver_identity(const char *driver_name, bool (*is_ready)(void *ctx),
                                        void *ctx);

extern struct metric METRIC_CSI_OPERATIONS;

/* Counts a call that has been answered; `err` NULL: it succeeded. Any thread. */
void metrics_count_csi_call(const char *driver_name, const char *method, const struct err *err,
                            uint64_t duration_ms);
