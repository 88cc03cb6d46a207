#include "lib/base/err.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

/* What CSI callers, custom resources and metrics see of each kind. Changing a row is changing an
 * interface. */
static const struct {
    enum err_kind kind;
    int grpc;
    enum err_retry retry;
    bool transient;
    const char *reason;
} kinds[] = {
    {ERR_INVALID, 3, ERR_RETRY_NEVER, false, "InvalidArgument"},
    {ERR_NOT_FOUND, 5, ERR_RETRY_NEVER, false, "NotFound"},
    {ERR_EXISTS, 6, ERR_RETRY_NEVER, false, "AlreadyExists"},
    {ERR_DENIED, 7, ERR_RETRY_BACKOFF, false, "PermissionDenied"},
    {ERR_EXHAUSTED, 8, ERR_RETRY_BACKOFF, false, "ResourceExhausted"},
    {ERR_PRECONDITION, 9, ERR_RETRY_BACKOFF, false, "FailedPrecondition"},
    {ERR_CONFLICT, 10, ERR_RETRY_NOW, true, "Conflict"},
    {ERR_THROTTLED, 10, ERR_RETRY_AFTER, true, "Throttled"},
    {ERR_BUSY, 10, ERR_RETRY_BACKOFF, true, "OperationPending"},
    {ERR_OUT_OF_RANGE, 11, ERR_RETRY_NEVER, false, "OutOfRange"},
    {ERR_UNIMPLEMENTED, 12, ERR_RETRY_NEVER, false, "Unimplemented"},
    {ERR_INTERNAL, 13, ERR_RETRY_BACKOFF, false, "Internal"},
    {ERR_UNAVAILABLE, 14, ERR_RETRY_BACKOFF, true, "Unavailable"},
    {ERR_NOT_SENT, 14, ERR_RETRY_BACKOFF, true, "NotSent"},
    {ERR_TIMEOUT, 4, ERR_RETRY_BACKOFF, true, "DeadlineExceeded"},
    {ERR_CANCELED, 1, ERR_RETRY_NEVER, false, "Canceled"},
};

static void test_every_kind(void **state)
{
    (void)state;
    assert_int_equal(COUNT_OF(kinds), ERR_KIND_COUNT);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        assert_int_equal(err_kind_grpc_status(kinds[i].kind), kinds[i].grpc);
        assert_int_equal(err_kind_retry(kinds[i].kind), kinds[i].retry);
        assert_string_equal(err_kind_reason(kinds[i].kind), kinds[i].reason);
        CLEANUP(err_freep) struct err *err = err_new(kinds[i].kind, "it failed");
        assert_int_equal(err_is_transient(err), kinds[i].transient);
    }
    assert_dies(err_kind_reason(ERR_KIND_COUNT));
}

static void test_wrapping_puts_context_before_and_keeps_the_rest(void **state)
{
    CLEANUP(err_freep)
    struct err *err = err_with_code(err_throttled(1500, "too many %s", "calls"), "429");

    (void)state;
    err = err_wrap(err, "disk %s", "d1");
    err = err_wrap(err, "volume v1");
    assert_string_equal(err_message(err), "volume v1: disk d1: too many calls");
    assert_int_equal(err_kind(err), ERR_THROTTLED);
    assert_int_equal(err_retry_after_ms(err), 1500);
    assert_string_equal(err_code(err), "429");
}

static void test_what_was_not_given(void **state)
{
    CLEANUP(err_freep) struct err *err = err_new(ERR_BUSY, "busy");

    (void)state;
    assert_int_equal(err_retry_after_ms(err), 0);
    assert_null(err_code(err));
    err_free(NULL);
}

static void test_code_is_replaced_also_by_itself(void **state)
{
    CLEANUP(err_freep) struct err *err = err_with_code(err_new(ERR_BUSY, "busy"), "First");

    (void)state;
    err = err_with_code(err, err_code(err));
    assert_string_equal(err_code(err), "First");
    err = err_with_code(err, "Second");
    assert_string_equal(err_code(err), "Second");
}

static void test_a_message_is_one_readable_line(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "Internal"},
        {"a\nb\r\n\tc\x1b[31m\x7f", "a b   c [31m "},
        {"Gr\xc3\xb6\xc3\x9f"
         "e",
         "Gr\xc3\xb6\xc3\x9f"
         "e"},
        {"Gr\xf6\xdf"
         "e",
         "Gr??e"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(err_freep) struct err *err = err_new(ERR_INTERNAL, "%s", rows[i].text);

        assert_string_equal(err_message(err), rows[i].message);
    }

    CLEANUP(err_freep) struct err *wrapped = err_wrap(err_new(ERR_BUSY, "busy"), "disk\n\xff");
    assert_string_equal(err_message(wrapped), "disk ?: busy");
}

static struct err *fails_if(bool fail, int *reached)
{
    TRY(fail ? err_new(ERR_BUSY, "busy") : NULL);
    *reached += 1;
    return NULL;
}

static void test_try_leaves_only_on_failure(void **state)
{
    int reached = 0;

    (void)state;
    assert_ok(fails_if(false, &reached));
    assert_fails(fails_if(true, &reached), ERR_BUSY, "busy");
    assert_int_equal(reached, 1);
}

static void test_an_error_of_a_kind_may_be_none(void **state)
{
    (void)state;
    assert_null(err_unless(NULL, ERR_NOT_FOUND));
    assert_null(err_unless(err_new(ERR_NOT_FOUND, "gone"), ERR_NOT_FOUND));
    assert_fails(err_unless(err_new(ERR_BUSY, "busy"), ERR_NOT_FOUND), ERR_BUSY, "busy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),
        cmocka_unit_test(test_wrapping_puts_context_before_and_keeps_the_rest),
        cmocka_unit_test(test_what_was_not_given),
        cmocka_unit_test(test_code_is_replaced_also_by_itself),
        cmocka_unit_test(test_a_message_is_one_readable_line),
        cmocka_unit_test(test_try_leaves_only_on_failure),
        cmocka_unit_test(test_an_error_of_a_kind_may_be_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
