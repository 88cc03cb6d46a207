/* json_patch.h - JSON Patch (RFC 6902) as far as clients of the simulated API server use it: test,
 * add, remove and replace. Pure.
 */
#pragma once

#include <jansson.h>

#include "lib/base/err.h"

/* What becomes of `json` is a new object. INVALID if an operation does not apply, and then nothing
 * is done. */
struct err *json_patch_apply(const json_t *json, const json_t *patch, json_t **ret)
    __attribute__((warn_unused_result));
