#include "lib/program/shared_metrics.h"

#include "lib/base/log.h"

struct metric METRIC_BUILD_INFO = {
    .name = "azuredisk_build_info",
    .help = "1, with the version of the program.",
    .type = METRIC_GAUGE,
    .labels = {"version"},
};

struct metric METRIC_WATCH_FAILURES = {
    .name = "azuredisk_kube_watch_failures_total",
    .help = "Lists and watches of the Kubernetes API that failed and were restarted.",
    .type = METRIC_COUNTER,
    .labels = {"resource"},
};

void metrics_watch_failed(void *ctx, const struct api_resource *resource, const struct err *err)
{
    (void)ctx;
    log_warning("watch of %s: %s", resource->plural, err_message(err));
    metric_add(&METRIC_WATCH_FAILURES, 1, resource->plural);
}
