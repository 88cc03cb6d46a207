/* arm_operation.h - a change that Resource Manager has accepted, followed until it has ended.
 *
 * Loop's thread; calls yield.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "provisioner-lib/azure/rate_limiter.h"
#include "provisioner-lib/azure/upstream_requests.h"

struct arm_client;

struct arm_operation {
    char *url;              /* NULL: it is finished */
    bool by_status;         /* the answers' HTTP status says how it stands, not their body */
    enum arm_kind begun_by; /* the kind of request */
    enum arm_kind kind;     /* of looking at it */
    char *resource;
    enum cloud_urgency urgency;
    uint64_t retry_after_ms;
    uint64_t (*most_ms)(void *ctx); /* that it is waited for, which may change meanwhile; NULL:
                                       ten minutes */
    void *ctx;
    struct upstream_request upstream; /* what has begun it */
};
void arm_operation_fini(struct arm_operation *operation);

/* Until the operation has ended; its failure is an error like that of a request. UNAVAILABLE if
 * that cannot be found out, TIMEOUT if it goes on. */
struct err *arm_operation_wait(struct task *self, struct arm_client *arm,
                               const struct arm_operation *operation)
    __attribute__((warn_unused_result));
