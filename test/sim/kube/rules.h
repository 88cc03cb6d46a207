/* rules.h - what becomes of an object when somebody writes to it, as kube-apiserver has it.
 *
 * Pure functions over JSON: nothing is stored here. What did not change is shared between the old
 * object and the new one, whose metadata is always its own. Errors carry the API's reason as their
 * code.
 */
#pragma once

#include <jansson.h>

#include "lib/rt/random.h"
#include "test/sim/kube/kinds.h"

/* A body may leave out what it is, but not say something else. */
struct err *rules_check_type(const struct kind *kind, const json_t *body, const char *name)
    __attribute__((warn_unused_result));

/* The object that a create makes; its name may have been generated. */
struct err *rules_create(const struct kind *kind, const char *namespace_, const json_t *body,
                         int64_t now_us, struct random *random, json_t **ret)
    __attribute__((warn_unused_result));

/* RFC 7386. */
json_t *rules_merge(const json_t *old, const json_t *patch);

/* The object that an update makes of `old`: `wanted` is what its author would have, `status`
 * whether it came in by the subresource. The same as `old`, by json_equal, if nothing is changed.
 */
struct err *rules_update(const struct kind *kind, const json_t *old, const json_t *wanted,
                         bool status, json_t **ret) __attribute__((warn_unused_result));
/* A whole object may replace only the one whose uid it has, if it has one. */
struct err *rules_check_replaced(const struct kind *kind, const json_t *old, const json_t *whole)
    __attribute__((warn_unused_result));
/* Whether an update has removed the last of what held an object that is to go. */
bool rules_is_released(const json_t *json);

/* What a delete does: `ret` is the object marked for its end, or NULL if it goes at once. `options`
 * may be NULL. */
struct err *rules_delete(const struct kind *kind, const json_t *old, const json_t *options,
                         int64_t now_us, json_t **ret) __attribute__((warn_unused_result));
