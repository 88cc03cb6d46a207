/* arm_error.h - what Azure's refusals mean to this driver, in one table.
 */
#pragma once

#include <jansson.h>

#include "lib/http/message.h"
#include "lib/base/err.h"

/* The error that a response with a status of 400 or more says, whatever its form. `json` is its
 * document, NULL if it has none. */
struct err *arm_error(const struct http_response *response, const json_t *json)
    __attribute__((warn_unused_result));

/* The same for an operation that failed: `json` is its "error" member. */
struct err *arm_operation_error(const json_t *json) __attribute__((warn_unused_result));
