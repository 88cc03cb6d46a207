#include "provisioner-lib/azure/arm_error.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "lib/base/alloc.h"

/* A row applies if its code is the error's and, where given, its text is part of the message; the
 * first that applies counts. Texts are needed only where Azure uses one code for many things. What
 * follows from a kind - whether and when it is tried again, the CSI code, the state of a custom
 * resource, the label of a metric - is in lib/base/err.h. */
static const struct row {
    const char *code, *text;
    enum err_kind kind;
    bool whole; /* it is about the VM or the subscription, never about one disk of several */
} rows[] = {
    /* it is not there */
    {"ResourceNotFound", NULL, ERR_NOT_FOUND, false},
    {"NotFound", NULL, ERR_NOT_FOUND, false},
    {"VMNotFound", NULL, ERR_NOT_FOUND, true},
    {"ParentResourceNotFound", NULL, ERR_NOT_FOUND, true},
    {"ResourceGroupNotFound", NULL, ERR_NOT_FOUND, false},
    {"DiskBlobNotFound", NULL, ERR_NOT_FOUND, false},
    {"InvalidParameter", "is not an active Virtual Machine Scale Set VM instanceId", ERR_NOT_FOUND,
     true},
    /* another operation is in the way and will end */
    {"AttachDiskWhileBeingDetached", NULL, ERR_BUSY, false},
    {"ConflictingUserInput", NULL, ERR_BUSY, false},
    {"OperationPreempted", NULL, ERR_BUSY, true},
    {"Conflict", "Access not permitted because disk", ERR_PRECONDITION, false},
    {"Conflict", "Disk resizing is allowed only when", ERR_PRECONDITION, false},
    {"Conflict", NULL, ERR_BUSY, true},
    {"DataDisksForceDetached", NULL, ERR_BUSY, true},
    {"OperationNotAllowed", "another operation is in progress", ERR_BUSY, true},
    {"OperationNotAllowed", "whose copy is in progress", ERR_BUSY, false}, /* of snapshots */
    {"OperationNotAllowed", "limit of incremental snapshots", ERR_BUSY, false},
    {"ResourceUpdateBlockedOnPlatformUpdate", NULL, ERR_BUSY, true},
    {"AcquireDiskLeaseFailed", NULL, ERR_BUSY, false},
    {"DiskBlobAlreadyInUseByAnotherDisk", NULL, ERR_BUSY, false},
    /* the model is not what we took it for */
    {"DetachUnattachedDisk", NULL, ERR_CONFLICT, false},
    {"PreconditionFailed", NULL, ERR_CONFLICT, true},
    {"InvalidParameter", "A disk at LUN", ERR_CONFLICT, false},
    {"InvalidParameter", "already uses the same LUN", ERR_CONFLICT, false},
    {"PropertyChangeNotAllowed", "'dataDisk.", ERR_CONFLICT, false},
    /* too many requests */
    {"TooManyRequests", NULL, ERR_THROTTLED, true},
    {"SubscriptionRequestsThrottled", NULL, ERR_THROTTLED, true},
    {"ResourceRequestsThrottled", NULL, ERR_THROTTLED, true},
    {"OperationNotAllowed", "too many requests", ERR_THROTTLED, true},
    /* there is no room */
    {"OperationNotAllowed", "maximum number of data disks", ERR_EXHAUSTED, false},
    {"OperationNotAllowed", "quota", ERR_EXHAUSTED, false},
    {"OperationNotAllowed", "maximum of 500 incremental snapshots", ERR_EXHAUSTED, false},
    {"QuotaExceeded", NULL, ERR_EXHAUSTED, false},
    {"SkuNotAvailable", NULL, ERR_EXHAUSTED, false},
    {"AllocationFailed", NULL, ERR_EXHAUSTED, false},
    {"ZonalAllocationFailed", NULL, ERR_EXHAUSTED, false},
    {"OverconstrainedAllocationRequest", NULL, ERR_EXHAUSTED, false},
    {"OverconstrainedZonalAllocationRequest", NULL, ERR_EXHAUSTED, false},
    /* something else has to change first */
    {"OperationNotAllowed", "marked for deletion", ERR_PRECONDITION, true},
    {"OperationNotAllowed", "is generalized", ERR_PRECONDITION, true},
    {"OperationNotAllowed", "is deallocated", ERR_PRECONDITION, true},
    {"OperationNotAllowed", NULL, ERR_PRECONDITION, false},
    {"ScopeLocked", NULL, ERR_PRECONDITION, false},
    {"ReadOnlyDisabledSubscription", NULL, ERR_PRECONDITION, true},
    {"SubscriptionNotFound", NULL, ERR_PRECONDITION, true},
    {"SubscriptionNotRegistered", NULL, ERR_PRECONDITION, true},
    {"MissingSubscriptionRegistration", NULL, ERR_PRECONDITION, true},
    {"ResourceGroupBeingDeleted", NULL, ERR_PRECONDITION, false},
    /* it exists and is another one */
    {"PropertyChangeNotAllowed", NULL, ERR_EXISTS, false},
    {"InvalidResourceLocation", NULL, ERR_EXISTS, false},
    /* we may not */
    {"AuthorizationFailed", NULL, ERR_DENIED, true},
    {"LinkedAuthorizationFailed", NULL, ERR_DENIED, false},
    {"LinkedAccessCheckFailed", NULL, ERR_DENIED, false},
    {"RequestDisallowedByPolicy", NULL, ERR_DENIED, false},
    {"InvalidAuthenticationToken", NULL, ERR_DENIED, true},
    {"ExpiredAuthenticationToken", NULL, ERR_DENIED, true},
    {"AuthenticationFailed", NULL, ERR_DENIED, true},
    {"InvalidAuthenticationTokenTenant", NULL, ERR_DENIED, true},
    /* this Azure has no such thing */
    {"NoRegisteredProviderFound", NULL, ERR_UNIMPLEMENTED, true},
    {"InvalidApiVersionParameter", NULL, ERR_UNIMPLEMENTED, true},
    {"InvalidResourceType", NULL, ERR_UNIMPLEMENTED, true},
    {"HttpMethodNotSupported", NULL, ERR_UNIMPLEMENTED, true},
    /* the request can never succeed */
    {"InvalidParameter", NULL, ERR_INVALID, false},
    {"InvalidParameterConflictingProperties", NULL, ERR_INVALID, false},
    {"BadRequest", NULL, ERR_INVALID, false},
    {"LinkedInvalidPropertyId", NULL, ERR_INVALID, false},
    {"InvalidSubscriptionId", NULL, ERR_INVALID, true},
    {"LocationNotAvailableForResourceType", NULL, ERR_INVALID, true},
    {"ResourceTypeNotSupportZones", NULL, ERR_INVALID, false},
    {"InvalidAvailabilityZone", NULL, ERR_INVALID, false},
    {"InvalidRequestContent", NULL, ERR_INVALID, true},
    {"RequestTooLarge", NULL, ERR_INVALID, false},
    /* Azure's own trouble */
    {"DiskProcessingError", NULL, ERR_INTERNAL, true},
    {"DiskPreparationError", NULL, ERR_INTERNAL, true},
    {"DiskServiceInternalError", NULL, ERR_INTERNAL, false},
    {"InternalServerError", NULL, ERR_INTERNAL, false},
    {"InternalExecutionError", NULL, ERR_INTERNAL, false},
    {"InternalDiskManagementError", NULL, ERR_INTERNAL, false},
    {"InternalOperationError", NULL, ERR_INTERNAL, false},
    {"NetworkingInternalOperationError", NULL, ERR_INTERNAL, false},
    {"ServiceUnavailable", NULL, ERR_UNAVAILABLE, true},
    {"ServerTimeout", NULL, ERR_UNAVAILABLE, true},
    {"GatewayTimeout", NULL, ERR_UNAVAILABLE, true},
};

/* For codes that are not in the table. A 404 of a gateway or a proxy does not say that anything is
 * gone. */
static const struct {
    int status;
    enum err_kind kind;
} statuses[] = {
    {400, ERR_INVALID},     {401, ERR_DENIED},        {403, ERR_DENIED},
    {404, ERR_UNAVAILABLE}, {405, ERR_UNIMPLEMENTED}, {408, ERR_UNAVAILABLE},
    {409, ERR_BUSY},        {412, ERR_CONFLICT},      {413, ERR_INVALID},
    {500, ERR_INTERNAL},    {502, ERR_UNAVAILABLE},   {503, ERR_UNAVAILABLE},
    {504, ERR_UNAVAILABLE},
};

static const struct row *row_of(const char *code, const char *message)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (strcasecmp(rows[i].code, code) == 0 &&
            (!rows[i].text || strcasestr(message, rows[i].text)))
            return &rows[i];
    return NULL;
}

static enum err_kind kind_of(const char *code, const char *message, int status)
{
    const struct row *row = row_of(code, message);

    if (row)
        return row->kind;
    /* Azure has a code for what it refuses. A proxy has none, and what it did not understand says
     * nothing of what was asked for. */
    if (status == 400 && !code[0])
        return ERR_UNAVAILABLE;
    for (size_t i = 0; i < COUNT_OF(statuses); i++)
        if (statuses[i].status == status)
            return statuses[i].kind;
    return ERR_INTERNAL;
}

/* "The maximum number of data disks allowed to be attached to a VM of this size is 4." */
int arm_error_data_disks(const struct err *err)
{
    static const char words[] = "maximum number of data disks", before[] = "this size is ";
    const char *at = strcasestr(err_message(err), words);
    const char *number = at ? strcasestr(at, before) : NULL;
    long count = number ? strtol(number + strlen(before), NULL, 10) : 0;

    return err_kind(err) == ERR_EXHAUSTED && count > 0 && count <= INT_MAX ? (int)count : 0;
}

bool arm_error_may_be_of_one_disk(const struct err *err)
{
    const struct row *row = err_code(err) ? row_of(err_code(err), err_message(err)) : NULL;

    switch (err_kind(err)) {
    case ERR_CANCELED:
    case ERR_NOT_SENT:
    case ERR_TIMEOUT:
    case ERR_UNAVAILABLE:
    case ERR_THROTTLED:
        return false;
    default:
        return !row || !row->whole;
    }
}

/* ---- when to come again ---- */

enum {
    NO_WORD_MS = 1000, /* without a Retry-After */
    /* Azure asks for 20 minutes at most. What is longer is somebody's mistake, for which the queue
     * of a VM must not stand still. */
    LONGEST_MS = 60 * 60 * 1000,
};

static int64_t bounded(int64_t ms)
{
    return ms < 0 ? 0 : ms < LONGEST_MS ? ms : LONGEST_MS;
}

/* Seconds, or a date. */
static uint64_t after_ms(const char *text, int64_t now_us)
{
    struct tm tm = {0};
    char *end;
    int64_t seconds = strtoll(text, &end, 10);

    if (end != text)
        return (uint64_t)bounded(1000 * bounded(seconds));
    if (!strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm))
        return 0;
    return (uint64_t)bounded((int64_t)timegm(&tm) * 1000 - now_us / 1000);
}

uint64_t arm_retry_after_ms(const struct http_response *response, int64_t now_us)
{
    static const char *const in_ms[] = {"retry-after-ms", "x-ms-retry-after-ms"};
    const char *value;

    for (size_t i = 0; i < COUNT_OF(in_ms); i++)
        if ((value = http_header_find(response->headers, response->n_headers, in_ms[i])))
            return (uint64_t)bounded(strtoll(value, NULL, 10));
    value = http_header_find(response->headers, response->n_headers, "Retry-After");
    return value ? after_ms(value, now_us) : 0;
}

/* ---- errors ---- */

static struct err *make(enum err_kind kind, uint64_t retry_after_ms, const char *code,
                        const char *message)
{
    struct err *err = kind == ERR_THROTTLED
                          ? err_throttled(retry_after_ms ? retry_after_ms : NO_WORD_MS, "%s: %s",
                                          code ? code : "throttled", message)
                          : err_new(kind, "%s: %s", code ? code : "no code", message);

    return code ? err_with_code(err, code) : err;
}

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));

    return text && *text ? text : NULL;
}

/* Some services leave the wrapper out, and some put the code into a header only. */
struct err *arm_error(const struct http_response *response, const json_t *json, int64_t now_us)
{
    const json_t *wrapped = json_object_get(json, "error");
    const json_t *error = json_is_object(wrapped) ? wrapped : json;
    const char *code = http_header_find(response->headers, response->n_headers, "x-ms-error-code");
    const char *message = text_of(error, "message");

    code = code ? code : text_of(error, "code");
    message = message ? message : "no reason given";
    enum err_kind kind = response->status == 429
                             ? ERR_THROTTLED
                             : kind_of(code ? code : "", message, response->status);
    CLEANUP(freep) char *text = mem_printf("%s (HTTP %d)", message, response->status);
    return make(kind, arm_retry_after_ms(response, now_us), code, text);
}

struct err *arm_operation_error(const json_t *json)
{
    const char *code = text_of(json, "code"), *message = text_of(json, "message");

    message = message ? message : "no reason given";
    /* Cancelled operations come without a code; a newer one took their place. */
    if (!code)
        return err_new(ERR_BUSY, "the operation was canceled: %s", message);
    return make(kind_of(code, message, 0), 0, code, message);
}
