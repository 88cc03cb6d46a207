/* upstream_requests.h - requests to Resource Manager, counted by the names that the Azure cloud
 * provider for Kubernetes and the drivers that stand on it have, for dashboards and alerts that
 * know them.
 *
 * Only requests that these make, too. One ends when the operation that Azure has begun for it has,
 * and what it has waited for its turn counts.
 */
#pragma once

#include <stdint.h>

#include "lib/base/metrics.h"

struct arm_request;
struct err;

extern struct metric METRIC_UPSTREAM_REQUEST_SECONDS, METRIC_UPSTREAM_REQUEST_ERRORS,
    METRIC_UPSTREAM_REQUESTS_THROTTLED;

struct upstream_request {
    const char *name; /* "disks_get"; NULL: it is none of theirs */
    char *subscription, *resource_group;
    uint64_t began;
};

struct upstream_request upstream_request_of(const struct arm_request *request, uint64_t now);
void upstream_request_fini(struct upstream_request *request);

/* That it has ended; what was canceled has not. */
void upstream_request_count(const struct upstream_request *request, const struct err *err,
                            uint64_t now);
