/* lease_spec.h - what is written into the spec of a Lease (coordination.k8s.io/v1) by whoever holds
 * it, as client-go does. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* Held by `holder` for `duration_ms` from now on (microseconds since 1970). With `takes` that
 * begins now, and is no renewal. */
json_t *lease_spec_held(const char *holder, uint64_t duration_ms, int64_t now_us, bool takes);
/* Given back: held by nobody. */
json_t *lease_spec_free(int64_t now_us);
