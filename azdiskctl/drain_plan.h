/* drain_plan.h - which pod leaves a node next.
 *
 * First those whose volumes have ready replicas elsewhere, one after the other; those whose
 * replicas are on their way when these are ready, or have had their time; those without replicas
 * last. A pod that may not be evicted yet holds up no other one. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"

enum drain_state {
    DRAIN_READY,   /* ready replicas are on a node that would take it */
    DRAIN_COMING,  /* they will be */
    DRAIN_SLOW,    /* they will not: it waits for Azure elsewhere */
    DRAIN_LEAVING, /* it has been evicted, or deleted, and has not ended yet */
    DRAIN_STAYS,   /* nobody would make it again, or its eviction has failed */
};

struct drain_pod {
    enum drain_state state;
    bool blocked; /* its eviction was refused a moment ago */
};

enum drain_step {
    DRAIN_EVICT,      /* `pod`, which has ready replicas */
    DRAIN_EVICT_SLOW, /* `pod`, which has none */
    DRAIN_AWAIT_REPLICAS,
    DRAIN_AWAIT_BUDGET,
    DRAIN_AWAIT_END, /* of those that leave */
    DRAIN_DONE,
};

struct drain_plan {
    enum drain_step step;
    size_t pod;
};

/* `patient`: replicas that are on their way still have time. */
struct drain_plan drain_next(const struct drain_pod *pods, size_t n, bool patient);

/* An eviction has failed for something about this pod that may pass: a PodDisruptionBudget keeps
 * it, two do, or a webhook has failed that is asked about it. */
bool drain_is_refused(const struct err *eviction);
