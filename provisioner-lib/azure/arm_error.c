#include "provisioner-lib/azure/arm_error.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"

/* A row applies if its code is the error's and, where given, its text is part of the message; the
 * first that applies counts. Texts are needed only where Azure uses one code for many things. */
static const struct row {
    const char *code, *text;
    enum err_kind kind;
} rows[] = {
    /* it is not there */
    {"ResourceNotFound", NULL, ERR_NOT_FOUND},
    {"NotFound", NULL, ERR_NOT_FOUND},
    {"VMNotFound", NULL, ERR_NOT_FOUND},
    {"ParentResourceNotFound", NULL, ERR_NOT_FOUND},
    {"ResourceGroupNotFound", NULL, ERR_NOT_FOUND},
    {"DiskBlobNotFound", NULL, ERR_NOT_FOUND},
    {"SubscriptionNotFound", NULL, ERR_NOT_FOUND},
    {"InvalidParameter", "is not an active Virtual Machine Scale Set VM instanceId", ERR_NOT_FOUND},
    /* another operation is in the way and will end */
    {"AttachDiskWhileBeingDetached", NULL, ERR_BUSY},
    {"ConflictingUserInput", NULL, ERR_BUSY},
    {"OperationPreempted", NULL, ERR_BUSY},
    {"Conflict", NULL, ERR_BUSY},
    {"DataDisksForceDetached", NULL, ERR_BUSY},
    {"OperationNotAllowed", "another operation is in progress", ERR_BUSY},
    {"ResourceUpdateBlockedOnPlatformUpdate", NULL, ERR_BUSY},
    {"AcquireDiskLeaseFailed", NULL, ERR_BUSY},
    {"PreconditionFailed", NULL, ERR_CONFLICT},
    {"InvalidParameter", "A disk at LUN", ERR_CONFLICT},
    {"InvalidParameter", "already uses the same LUN", ERR_CONFLICT},
    /* there is no room */
    {"OperationNotAllowed", "maximum number of data disks", ERR_EXHAUSTED},
    {"OperationNotAllowed", "quota", ERR_EXHAUSTED},
    {"QuotaExceeded", NULL, ERR_EXHAUSTED},
    {"SkuNotAvailable", NULL, ERR_EXHAUSTED},
    {"AllocationFailed", NULL, ERR_EXHAUSTED},
    {"ZonalAllocationFailed", NULL, ERR_EXHAUSTED},
    {"OverconstrainedAllocationRequest", NULL, ERR_EXHAUSTED},
    {"OverconstrainedZonalAllocationRequest", NULL, ERR_EXHAUSTED},
    /* something else has to change first */
    {"OperationNotAllowed", NULL, ERR_PRECONDITION},
    {"ScopeLocked", NULL, ERR_PRECONDITION},
    {"ReadOnlyDisabledSubscription", NULL, ERR_PRECONDITION},
    /* it exists and is another one */
    {"PropertyChangeNotAllowed", NULL, ERR_EXISTS},
    {"InvalidResourceLocation", NULL, ERR_EXISTS},
    /* we may not */
    {"AuthorizationFailed", NULL, ERR_DENIED},
    {"LinkedAuthorizationFailed", NULL, ERR_DENIED},
    {"RequestDisallowedByPolicy", NULL, ERR_DENIED},
    {"InvalidAuthenticationToken", NULL, ERR_DENIED},
    {"ExpiredAuthenticationToken", NULL, ERR_DENIED},
    {"AuthenticationFailed", NULL, ERR_DENIED},
};

static const struct {
    int status;
    enum err_kind kind;
} statuses[] = {
    {400, ERR_INVALID},  {401, ERR_DENIED},      {403, ERR_DENIED},      {404, ERR_NOT_FOUND},
    {409, ERR_BUSY},     {412, ERR_CONFLICT},    {413, ERR_INVALID},     {408, ERR_UNAVAILABLE},
    {500, ERR_INTERNAL}, {502, ERR_UNAVAILABLE}, {503, ERR_UNAVAILABLE}, {504, ERR_UNAVAILABLE},
};

static enum err_kind kind_of(const char *code, const char *message, int status)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (strcasecmp(rows[i].code, code) == 0 &&
            (!rows[i].text || strcasestr(message, rows[i].text)))
            return rows[i].kind;
    for (size_t i = 0; i < COUNT_OF(statuses); i++)
        if (statuses[i].status == status)
            return statuses[i].kind;
    return ERR_INTERNAL;
}

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));

    return text && *text ? text : NULL;
}

static uint64_t retry_after_ms(const struct http_response *response)
{
    const char *header = http_header_find(response->headers, response->n_headers, "Retry-After");
    uint64_t seconds = header ? strtoull(header, NULL, 10) : 0;

    return (seconds ? seconds : 1) * 1000;
}

/* Some services leave the wrapper out, and some put the code into a header only. */
struct err *arm_error(const struct http_response *response, const json_t *json)
{
    const json_t *wrapped = json_object_get(json, "error");
    const json_t *error = json_is_object(wrapped) ? wrapped : json;
    const char *code = http_header_find(response->headers, response->n_headers, "x-ms-error-code");
    const char *message = text_of(error, "message");

    code = code ? code : text_of(error, "code");
    message = message ? message : "no reason given";
    struct err *err =
        response->status == 429
            ? err_throttled(retry_after_ms(response), "%s: %s", code ? code : "throttled", message)
            : err_new(kind_of(code ? code : "", message, response->status), "%s: %s (HTTP %d)",
                      code ? code : "no code", message, response->status);
    return code ? err_with_code(err, code) : err;
}

struct err *arm_operation_error(const json_t *json)
{
    const char *code = text_of(json, "code"), *message = text_of(json, "message");

    /* Cancelled operations come without a code; a newer one took their place. */
    if (!code)
        return err_new(ERR_BUSY, "the operation was cancelled: %s",
                       message ? message : "no reason given");
    message = message ? message : "no reason given";
    return err_with_code(err_new(kind_of(code, message, 0), "%s: %s", code, message), code);
}
