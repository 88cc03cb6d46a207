#include "lib/program/csi_driver.h"

#include <stdio.h>

#include "lib/base/alloc.h"
#include "lib/program/upstream_calls.h"

struct csi_identity csi_driver_identity(const char *driver_name, bool (*is_ready)(void *ctx),
                                        void *ctx)
{
    static const struct csi_capability capabilities[] = {
        CSI_SERVICE(CONTROLLER_SERVICE),
        CSI_SERVICE(VOLUME_ACCESSIBILITY_CONSTRAINTS),
        CSI_EXPANSION(ONLINE),
    };

    return (struct csi_identity){
        .driver_name = driver_name,
        .capabilities = capabilities,
        .n_capabilities = COUNT_OF(capabilities),
        .is_ready = is_ready,
        .ctx = ctx,
    };
}

struct metric METRIC_CSI_OPERATIONS = {
    .name = "azuredisk_csi_operations_seconds",
    .help = "Duration of CSI calls.",
    .type = METRIC_HISTOGRAM,
    .labels = {"driver_name", "method_name", "grpc_status_code"},
    .buckets = METRIC_SECONDS,
};

void metrics_count_csi_call(const char *driver_name, const char *method, const struct err *err,
                            uint64_t duration_ms)
{
    char code[8];

    snprintf(code, sizeof code, "%d", err ? err_kind_grpc_status(err_kind(err)) : 0);
    metric_observe(&METRIC_CSI_OPERATIONS, (double)duration_ms / 1000, driver_name, method, code);
    upstream_count_call(method, !err, (double)duration_ms / 1000);
}
