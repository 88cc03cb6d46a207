#include "lib/program/shared_flags.h"

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "test/unit/expect.h"

static struct {
    const char *kubeconfig, *driver_name, *namespace_;
    struct log_flags log;
} flags;

static const struct option_row table[] = {
    KUBECONFIG_FLAG(flags.kubeconfig),
    DRIVER_NAME_FLAG(flags.driver_name),
    OBJECT_NAMESPACE_FLAG(flags.namespace_),
    LOG_FLAGS(flags.log),
};

static struct err *parse(const char *flag)
{
    char *argv[] = {(char[]){"program"}, (char *)(uintptr_t)flag, NULL};

    return options_parse(table, COUNT_OF(table), 2, argv);
}

static void test_each_flag_sets_its_own(void **state)
{
    (void)state;
    assert_ok(parse("--kubeconfig=a"));
    assert_ok(parse("--driver-name=b"));
    assert_ok(parse("--object-namespace=c"));
    assert_ok(parse("--v=5"));
    assert_ok(parse("--log-format=json"));
    assert_string_equal(flags.kubeconfig, "a");
    assert_string_equal(flags.driver_name, "b");
    assert_string_equal(flags.namespace_, "c");
    assert_int_equal(flags.log.verbosity, 5);
    assert_int_equal(flags.log.format, LOG_JSON);
    assert_ok(parse("--log-format=text"));
    assert_int_equal(flags.log.format, LOG_TEXT);
    assert_fails(parse("--v=11"), ERR_INVALID, "--v: \"11\" is not a whole number from 0 to 10");
}

static void test_the_log_is_set_up(void **state)
{
    (void)state;
    log_flags_apply(&(struct log_flags){.verbosity = 0});
    assert_false(log_enabled(LOG_INFO));
    log_flags_apply(&(struct log_flags){.verbosity = 2});
    assert_true(log_enabled(LOG_INFO));
    assert_false(log_enabled(LOG_DEBUG));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_flag_sets_its_own),
        cmocka_unit_test(test_the_log_is_set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
