/* az_error.h - errors as custom resources carry them (AzError): the gRPC code's name and a message.
 *
 * The reconciler that failed and the CSI call that waits for it may be in different processes; what
 * passes between them is status.error.
 */
#pragma once

#include <jansson.h>

#include "lib/api/azdisk.pb-c.h"
#include "lib/base/err.h"

/* As JSON for a status patch. The cloud's own code is parameter "code". */
json_t *az_error_json(const struct err *err);

/* The error that a status tells of; NULL if it tells of none. */
struct err *az_error_take(const Api__AzError *error) __attribute__((warn_unused_result));
