#include "provisioner-lib/records/az_error.h"

#include <string.h>

#include "lib/base/alloc.h"

/* By the number of the code. A kind is found again by the first that has the code, except for
 * those below. */
static const char *const codes[] = {
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
};

json_t *az_error_json(const struct err *err)
{
    json_t *json = json_pack("{s:s, s:s}", "code", codes[err_kind_grpc_status(err_kind(err))],
                             "message", err_message(err));

    if (err_code(err))
        json_object_set_new(json, "parameters", json_pack("{s:s}", "code", err_code(err)));
    return json;
}

static enum err_kind kind_of(const char *code)
{
    if (code && strcmp(code, "ABORTED") == 0)
        return ERR_BUSY; /* also CONFLICT and THROTTLED, which pass by themselves as it does */
    for (int kind = 0; kind < ERR_KIND_COUNT; kind++)
        if (code && strcmp(codes[err_kind_grpc_status((enum err_kind)kind)], code) == 0)
            return (enum err_kind)kind;
    return ERR_INTERNAL;
}

struct err *az_error_take(const Api__AzError *error)
{
    if (!error)
        return NULL;
    return err_new(kind_of(error->code), "%s", error->message ? error->message : "no reason given");
}
