/* Each row is an answer of Azure (status, body), and the error that it becomes. */
#include "provisioner-lib/azure/arm_error.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "test/unit/expect.h"

static const struct {
    int status;
    const char *body;
    enum err_kind kind;
    const char *code, *message;
} rows[] = {
    {404, "{\"error\":{\"code\":\"ResourceNotFound\",\"message\":\"m\"}}", ERR_NOT_FOUND,
     "ResourceNotFound", "ResourceNotFound: m (HTTP 404)"},
    {409,
     "{\"error\":{\"code\":\"OperationNotAllowed\",\"message\":\"The maximum number of data disks "
     "allowed to be attached to a VM of this size is 8.\",\"target\":\"dataDisks\"}}",
     ERR_EXHAUSTED, "OperationNotAllowed",
     "OperationNotAllowed: The maximum number of data disks allowed to be attached to a VM of this "
     "size is 8. (HTTP 409)"},
    {409,
     "{\"error\":{\"code\":\"OperationNotAllowed\",\"message\":\"Disk X is attached to VM Y.\"}}",
     ERR_PRECONDITION, "OperationNotAllowed",
     "OperationNotAllowed: Disk X is attached to VM Y. (HTTP 409)"},
    {429,
     "{\"code\":\"OperationNotAllowed\",\"message\":\"too many\",\"details\":[{\"code\":"
     "\"TooManyRequests\"}]}",
     ERR_THROTTLED, "OperationNotAllowed", "OperationNotAllowed: too many (HTTP 429)"},
    {409, "{\"error\":{\"code\":\"ConflictingUserInput\",\"message\":\"m\"}}", ERR_BUSY,
     "ConflictingUserInput", "ConflictingUserInput: m (HTTP 409)"},
    {400,
     "{\"error\":{\"code\":\"InvalidParameter\",\"message\":\"A disk at LUN 3 already exists.\"}}",
     ERR_CONFLICT, "InvalidParameter",
     "InvalidParameter: A disk at LUN 3 already exists. (HTTP 400)"},
    {400, "{\"error\":{\"code\":\"InvalidParameter\",\"message\":\"bad\"}}", ERR_INVALID,
     "InvalidParameter", "InvalidParameter: bad (HTTP 400)"},
    {403, "{\"error\":{\"code\":\"AuthorizationFailed\",\"message\":\"m\"}}", ERR_DENIED,
     "AuthorizationFailed", "AuthorizationFailed: m (HTTP 403)"},
    {500, "{\"error\":{\"code\":\"InternalServerError\",\"message\":\"m\"}}", ERR_INTERNAL,
     "InternalServerError", "InternalServerError: m (HTTP 500)"},
    {503, NULL, ERR_UNAVAILABLE, NULL, "no code: no reason given (HTTP 503)"},
    {404, NULL, ERR_UNAVAILABLE, NULL, "no code: no reason given (HTTP 404)"},
    {404, "{\"error\":{\"code\":\"SomethingNew\",\"message\":\"m\"}}", ERR_UNAVAILABLE,
     "SomethingNew", "SomethingNew: m (HTTP 404)"},
    {400, NULL, ERR_UNAVAILABLE, NULL, "no code: no reason given (HTTP 400)"},
    {400, "{\"error\":{\"code\":\"\",\"message\":\"m\"}}", ERR_UNAVAILABLE, NULL,
     "no code: m (HTTP 400)"},
    {400, "{\"error\":{\"code\":\"SomethingNew\",\"message\":\"m\"}}", ERR_INVALID, "SomethingNew",
     "SomethingNew: m (HTTP 400)"},
    {418, "[]", ERR_INTERNAL, NULL, "no code: no reason given (HTTP 418)"},
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *json = NULL;
        const struct http_response response = {.status = rows[i].status};

        if (rows[i].body)
            assert_ok(json_parse_here(rows[i].body, strlen(rows[i].body), &json));
        CLEANUP(err_freep) struct err *err = arm_error(&response, json, 0);
        assert_string_equal(err_message(err), rows[i].message);
        assert_int_equal(err_kind(err), rows[i].kind);
        if (rows[i].code)
            assert_string_equal(err_code(err), rows[i].code);
        else
            assert_null(err_code(err));
    }
}

/* Every row of the published catalogue. */
static const struct {
    const char *code;
    int status; /* 0: of an operation that failed */
    const char *message;
    enum err_kind kind;
} catalogue[] = {
    {"ResourceNotFound", 404, "m", ERR_NOT_FOUND},
    {"ResourceGroupNotFound", 404, "m", ERR_NOT_FOUND},
    {"ParentResourceNotFound", 404, "m", ERR_NOT_FOUND},
    {"NotFound", 404, "m", ERR_NOT_FOUND},
    {"VMNotFound", 0, "The VM 'v' cannot be found.", ERR_NOT_FOUND},
    {"DiskBlobNotFound", 0, "Unable to find VHD blob with URI u for disk 'd'.", ERR_NOT_FOUND},
    {"AttachDiskWhileBeingDetached", 409,
     "Cannot attach data disk 'd' to VM 'v' because the disk is currently being detached",
     ERR_BUSY},
    {"DetachUnattachedDisk", 409, "m", ERR_CONFLICT},
    {"ConflictingUserInput", 409,
     "Disk 'd' cannot be attached as the disk is already owned by VM 'v'.", ERR_BUSY},
    {"OperationNotAllowed", 409,
     "The maximum number of data disks allowed to be attached to a VM of this size is 8.",
     ERR_EXHAUSTED},
    {"OperationNotAllowed", 409, "Disk X is attached to VM /subscriptions/s.", ERR_PRECONDITION},
    {"OperationNotAllowed", 409, "Cannot resize disk X while it is attached to running VM v.",
     ERR_PRECONDITION},
    {"OperationNotAllowed", 409,
     "Operation 'o' is not allowed on VM 'v' since the VM is marked for deletion.",
     ERR_PRECONDITION},
    {"OperationNotAllowed", 409,
     "Operation 'o' is not allowed on VM 'v' since the VM is generalized.", ERR_PRECONDITION},
    {"OperationNotAllowed", 409,
     "Operation 'o' is not allowed since another operation is in progress.", ERR_BUSY},
    {"OperationNotAllowed", 409,
     "Operation 'o' is not allowed on VM 'v' since the VM is deallocated.", ERR_PRECONDITION},
    {"OperationNotAllowed", 403,
     "Operation could not be completed as it results in exceeding approved quota.", ERR_EXHAUSTED},
    {"OperationNotAllowed", 429,
     "The server rejected the request because too many requests have been received for this "
     "subscription.",
     ERR_THROTTLED},
    {"OperationNotAllowed", 0,
     "The server rejected the request because too many requests have been received for this "
     "subscription.",
     ERR_THROTTLED},
    {"TooManyRequests", 429, "m", ERR_THROTTLED},
    {"TooManyRequests", 0, "m", ERR_THROTTLED},
    {"SubscriptionRequestsThrottled", 429, "m", ERR_THROTTLED},
    {"SubscriptionRequestsThrottled", 0, "m", ERR_THROTTLED},
    {"ResourceRequestsThrottled", 429, "m", ERR_THROTTLED},
    {"ResourceRequestsThrottled", 0, "m", ERR_THROTTLED},
    {"OperationPreempted", 409, "m", ERR_BUSY},
    {"OperationPreempted", 0, "m", ERR_BUSY},
    {"Conflict", 409, "The request failed due to conflict with a concurrent request.", ERR_BUSY},
    {"Conflict", 409, "Access not permitted because disk X is currently attached to running VM v",
     ERR_PRECONDITION},
    {"Conflict", 409,
     "Disk resizing is allowed only when creating a VM or when the VM is deallocated.",
     ERR_PRECONDITION},
    {"DataDisksForceDetached", 0, "m", ERR_BUSY},
    {"PropertyChangeNotAllowed", 409, "Changing property 'dataDisk.managedDisk.id' is not allowed.",
     ERR_CONFLICT},
    {"PropertyChangeNotAllowed", 409, "Changing property 'creationData.sourceUri' is not allowed.",
     ERR_EXISTS},
    {"InvalidParameter", 400, "A disk at LUN 3 already exists.", ERR_CONFLICT},
    {"InvalidParameter", 400, "A disk named 'X' already exists.", ERR_INVALID},
    {"InvalidParameter", 400, "A disk named 'X' already uses the same LUN: 3.", ERR_CONFLICT},
    {"InvalidParameter", 400, "The value '64' of parameter 'lun' is out of range.", ERR_INVALID},
    {"InvalidParameter", 400,
     "Subscription s of the request must match the subscription t contained in the managed disk "
     "id.",
     ERR_INVALID},
    {"InvalidParameter", 400, "The requested VM size Standard_X is not available.", ERR_INVALID},
    {"InvalidParameter", 400, "5 is not an active Virtual Machine Scale Set VM instanceId.",
     ERR_NOT_FOUND},
    {"InvalidParameterConflictingProperties", 400, "m", ERR_INVALID},
    {"BadRequest", 400,
     "Only Disk CachingType 'None' is supported for disk with size greater than 4095 GB.",
     ERR_INVALID},
    {"BadRequest", 400, "Could not find member 'toBeDetached' on object of type 'DataDisk'.",
     ERR_INVALID},
    {"BadRequest", 400, "Disk X cannot be attached to the VM because it is not in zone '1'.",
     ERR_INVALID},
    {"PreconditionFailed", 412, "m", ERR_CONFLICT},
    {"AuthorizationFailed", 403, "m", ERR_DENIED},
    {"LinkedAuthorizationFailed", 403, "m", ERR_DENIED},
    {"LinkedAccessCheckFailed", 403, "m", ERR_DENIED},
    {"RequestDisallowedByPolicy", 403, "m", ERR_DENIED},
    {"InvalidAuthenticationToken", 401, "m", ERR_DENIED},
    {"ExpiredAuthenticationToken", 401, "m", ERR_DENIED},
    {"AuthenticationFailed", 401, "m", ERR_DENIED},
    {"InvalidAuthenticationTokenTenant", 401, "m", ERR_DENIED},
    {"LinkedInvalidPropertyId", 400, "m", ERR_INVALID},
    {"ScopeLocked", 409, "m", ERR_PRECONDITION},
    {"SkuNotAvailable", 409, "m", ERR_EXHAUSTED},
    {"AllocationFailed", 0, "m", ERR_EXHAUSTED},
    {"ZonalAllocationFailed", 0, "m", ERR_EXHAUSTED},
    {"OverconstrainedAllocationRequest", 0, "m", ERR_EXHAUSTED},
    {"OverconstrainedZonalAllocationRequest", 0, "m", ERR_EXHAUSTED},
    {"QuotaExceeded", 403, "m", ERR_EXHAUSTED},
    {"DiskServiceInternalError", 500, "m", ERR_INTERNAL},
    {"InternalServerError", 500, "m", ERR_INTERNAL},
    {"InternalExecutionError", 500, "m", ERR_INTERNAL},
    {"InternalDiskManagementError", 500, "m", ERR_INTERNAL},
    {"InternalOperationError", 500, "m", ERR_INTERNAL},
    {"NetworkingInternalOperationError", 500, "m", ERR_INTERNAL},
    {"ServiceUnavailable", 503, "m", ERR_UNAVAILABLE},
    {"ServerTimeout", 503, "m", ERR_UNAVAILABLE},
    {"GatewayTimeout", 504, "m", ERR_UNAVAILABLE},
    {"DiskProcessingError", 0, "Disk processing halted as the VM has other disks in failed disks.",
     ERR_INTERNAL},
    {"DiskPreparationError", 0, "Disk processing halted as the VM has other disks in failed disks.",
     ERR_INTERNAL},
    {"AcquireDiskLeaseFailed", 0, "m", ERR_BUSY},
    {"DiskBlobAlreadyInUseByAnotherDisk", 0, "m", ERR_BUSY},
    {"ResourceUpdateBlockedOnPlatformUpdate", 409, "m", ERR_BUSY},
    {"ReadOnlyDisabledSubscription", 409, "m", ERR_PRECONDITION},
    {"SubscriptionNotFound", 404, "m", ERR_PRECONDITION},
    {"InvalidSubscriptionId", 400, "m", ERR_INVALID},
    {"SubscriptionNotRegistered", 409, "m", ERR_PRECONDITION},
    {"MissingSubscriptionRegistration", 409, "m", ERR_PRECONDITION},
    {"ResourceGroupBeingDeleted", 409, "m", ERR_PRECONDITION},
    {"NoRegisteredProviderFound", 400, "m", ERR_UNIMPLEMENTED},
    {"InvalidApiVersionParameter", 400, "m", ERR_UNIMPLEMENTED},
    {"InvalidResourceType", 404, "m", ERR_UNIMPLEMENTED},
    {"HttpMethodNotSupported", 405, "m", ERR_UNIMPLEMENTED},
    {"LocationNotAvailableForResourceType", 400, "m", ERR_INVALID},
    {"ResourceTypeNotSupportZones", 400, "m", ERR_INVALID},
    {"InvalidAvailabilityZone", 400, "m", ERR_INVALID},
    {"InvalidRequestContent", 400, "m", ERR_INVALID},
    {"InvalidResourceLocation", 409, "m", ERR_EXISTS},
    {"RequestTooLarge", 413, "m", ERR_INVALID},
};

/* What follows from the kinds: whether and when it is tried again, the code for CSI callers, the
 * reason in custom resources and metrics. */
static const struct {
    enum err_kind kind;
    enum err_retry retry;
    int grpc;
    const char *reason;
} kinds[] = {
    {ERR_INVALID, ERR_RETRY_NEVER, 3, "InvalidArgument"},
    {ERR_NOT_FOUND, ERR_RETRY_NEVER, 5, "NotFound"},
    {ERR_EXISTS, ERR_RETRY_NEVER, 6, "AlreadyExists"},
    {ERR_DENIED, ERR_RETRY_BACKOFF, 7, "PermissionDenied"},
    {ERR_EXHAUSTED, ERR_RETRY_BACKOFF, 8, "ResourceExhausted"},
    {ERR_PRECONDITION, ERR_RETRY_BACKOFF, 9, "FailedPrecondition"},
    {ERR_CONFLICT, ERR_RETRY_NOW, 10, "Conflict"},
    {ERR_THROTTLED, ERR_RETRY_AFTER, 10, "Throttled"},
    {ERR_BUSY, ERR_RETRY_BACKOFF, 10, "OperationPending"},
    {ERR_UNIMPLEMENTED, ERR_RETRY_NEVER, 12, "Unimplemented"},
    {ERR_INTERNAL, ERR_RETRY_BACKOFF, 13, "Internal"},
    {ERR_UNAVAILABLE, ERR_RETRY_BACKOFF, 14, "Unavailable"},
};

static void check_class(enum err_kind kind)
{
    size_t i = 0;

    while (i < COUNT_OF(kinds) && kinds[i].kind != kind)
        i++;
    assert_in_range(i, 0, COUNT_OF(kinds) - 1);
    assert_int_equal(err_kind_retry(kind), kinds[i].retry);
    assert_int_equal(err_kind_grpc_status(kind), kinds[i].grpc);
    assert_string_equal(err_kind_reason(kind), kinds[i].reason);
}

static void test_catalogue(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(catalogue); i++) {
        CLEANUP(json_decrefp)
        json_t *json =
            json_pack("{s:s, s:s}", "code", catalogue[i].code, "message", catalogue[i].message);
        const struct http_response response = {.status = catalogue[i].status};
        CLEANUP(err_freep)
        struct err *err =
            catalogue[i].status ? arm_error(&response, json, 0) : arm_operation_error(json);

        if (err_kind(err) != catalogue[i].kind)
            fail_msg("%s: expected %s, got %s", err_message(err),
                     err_kind_reason(catalogue[i].kind), err_kind_reason(err_kind(err)));
        assert_string_equal(err_code(err), catalogue[i].code);
        check_class(err_kind(err));
    }
}

/* Whether a change of several disks is worth trying with fewer. */
static void test_whose_fault_it_is(void **state)
{
    static const struct {
        const char *code, *message;
        bool of_one;
    } refusals[] = {
        {"ResourceNotFound", "the disk", true},
        {"AttachDiskWhileBeingDetached", "d", true},
        {"ConflictingUserInput", "d", true},
        {"OperationNotAllowed", "The maximum number of data disks", true},
        {"SomethingNew", "m", true},
        {"VMNotFound", "m", false},
        {"OperationNotAllowed", "the VM is marked for deletion", false},
        {"Conflict", "a concurrent request", false},
        {"OperationPreempted", "m", false},
        {"TooManyRequests", "m", false},
        {"AuthorizationFailed", "m", false},
        {"ServiceUnavailable", "m", false},
        {"PreconditionFailed", "the ETag is another one", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        CLEANUP(json_decrefp)
        json_t *json =
            json_pack("{s:s, s:s}", "code", refusals[i].code, "message", refusals[i].message);
        CLEANUP(err_freep) struct err *err = arm_operation_error(json);

        if (arm_error_may_be_of_one_disk(err) != refusals[i].of_one)
            fail_msg("%s", err_message(err));
    }
}

static void test_how_many_disks_a_size_allows(void **state)
{
    static const struct {
        const char *code, *message;
        int disks;
    } answers[] = {
        {"OperationNotAllowed",
         "The maximum number of data disks allowed to be attached to a VM of this size is 4.", 4},
        {"OperationNotAllowed",
         "The maximum number of data disks allowed to be attached to a VM of this size is 64.", 64},
        {"OperationNotAllowed", "The maximum number of data disks has been reached.", 0},
        {"OperationNotAllowed", "The maximum number of VMs of this size is 4.", 0},
        {"QuotaExceeded", "Quota exceeded: this size is 4.", 0},
        {"NotFound", "The maximum number of data disks: this size is 4.", 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        CLEANUP(json_decrefp)
        json_t *json =
            json_pack("{s:s, s:s}", "code", answers[i].code, "message", answers[i].message);
        CLEANUP(err_freep) struct err *err = arm_operation_error(json);

        if (arm_error_data_disks(err) != answers[i].disks)
            fail_msg("%s: %d", err_message(err), arm_error_data_disks(err));
    }
}

static void test_when_to_come_again(void **state)
{
    static const struct {
        const char *name, *value;
        uint64_t ms;
    } headers[] = {
        {"Retry-After", "1", 1000},
        {"Retry-After", "120", 120000},
        {"retry-after-ms", "250", 250},
        {"x-ms-retry-after-ms", "1500", 1500},
        {"Retry-After", "Thu, 01 Jan 2026 00:00:30 GMT", 30000},
        {"Retry-After", "Wed, 31 Dec 2025 23:59:59 GMT", 0},
        {"Retry-After", "soon", 0},
        {"Retry-After", "-1", 0},
        {"retry-after-ms", "-1", 0},
        {"Retry-After", "18446744073709551", 3600 * 1000},
        {"Retry-After", "99999999999999999999", 3600 * 1000},
        {"x-ms-retry-after-ms", "99999999999999999999", 3600 * 1000},
        {"Retry-After", "Fri, 01 Jan 2100 00:00:30 GMT", 3600 * 1000},
        {"X-Other", "1", 0},
    };
    const int64_t new_year_2026 = 1767225600;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(headers); i++) {
        struct http_header header = {headers[i].name, headers[i].value};
        const struct http_response response = {.status = 429, .headers = &header, .n_headers = 1};

        assert_int_equal(arm_retry_after_ms(&response, new_year_2026 * 1000000), headers[i].ms);
    }
}

static void test_headers(void **state)
{
    struct http_header headers[] = {{"retry-after", "17"}, {"X-MS-Error-Code", "TooManyRequests"}};
    const struct http_response response = {.status = 429, .headers = headers, .n_headers = 2};
    CLEANUP(err_freep) struct err *err = arm_error(&response, NULL, 0);

    (void)state;
    assert_int_equal(err_kind(err), ERR_THROTTLED);
    assert_int_equal(err_retry_after_ms(err), 17000);
    assert_string_equal(err_code(err), "TooManyRequests");
}

static void test_operations(void **state)
{
    static const struct {
        const char *error;
        enum err_kind kind;
        const char *message;
    } operations[] = {
        {"{\"code\":\"OperationPreempted\",\"message\":\"m\"}", ERR_BUSY, "OperationPreempted: m"},
        {"{\"code\":\"AllocationFailed\",\"message\":\"m\"}", ERR_EXHAUSTED, "AllocationFailed: m"},
        {"{\"code\":\"\",\"message\":\"\"}", ERR_BUSY,
         "the operation was canceled: no reason given"},
        {"{\"code\":\"SomethingNew\",\"message\":\"m\"}", ERR_INTERNAL, "SomethingNew: m"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(operations); i++) {
        CLEANUP(json_decrefp) json_t *json = NULL;

        assert_ok(json_parse_here(operations[i].error, strlen(operations[i].error), &json));
        assert_fails(arm_operation_error(json), operations[i].kind, operations[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_catalogue),
        cmocka_unit_test(test_whose_fault_it_is),
        cmocka_unit_test(test_how_many_disks_a_size_allows),
        cmocka_unit_test(test_when_to_come_again),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_operations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
