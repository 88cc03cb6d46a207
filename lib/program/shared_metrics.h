/* shared_metrics.h - what every program counts that watches the cluster.
 *
 * A program lists these metrics in its own table. Any thread.
 */
#pragma once

#include "lib/api/resources.h"
#include "lib/base/err.h"
#include "lib/base/metrics.h"

extern struct metric METRIC_BUILD_INFO, METRIC_WATCH_FAILURES;

/* For reflector_config.failed: logs and counts a list or watch that has failed. */
void metrics_watch_failed(void *ctx, const struct api_resource *resource, const struct err *err);
