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
     ERR_THROTTLED, "OperationNotAllowed", "OperationNotAllowed: too many"},
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
        CLEANUP(err_freep) struct err *err = arm_error(&response, json);
        assert_string_equal(err_message(err), rows[i].message);
        assert_int_equal(err_kind(err), rows[i].kind);
        if (rows[i].code)
            assert_string_equal(err_code(err), rows[i].code);
        else
            assert_null(err_code(err));
    }
}

static void test_headers(void **state)
{
    struct http_header headers[] = {{"retry-after", "17"}, {"X-MS-Error-Code", "TooManyRequests"}};
    const struct http_response response = {.status = 429, .headers = headers, .n_headers = 2};
    CLEANUP(err_freep) struct err *err = arm_error(&response, NULL);

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
         "the operation was cancelled: no reason given"},
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
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_operations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
