#include "lib/program/shared_flags.h"

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "test/unit/captured_stderr.h"
#include "test/unit/expect.h"

static struct {
    const char *kubeconfig, *driver_name, *namespace_;
    struct tls_files metrics_tls;
    uint64_t tls_reload_interval_ms;
    struct log_flags log;
} flags;

static const struct option_row table[] = {
    KUBECONFIG_FLAG(flags.kubeconfig),
    DRIVER_NAME_FLAG(flags.driver_name),
    OBJECT_NAMESPACE_FLAG(flags.namespace_),
    METRICS_TLS_FLAGS(flags.metrics_tls),
    TLS_RELOAD_INTERVAL_FLAG(flags.tls_reload_interval_ms),
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
    assert_ok(parse("--metrics-tls-cert-file=d"));
    assert_ok(parse("--metrics-tls-key-file=e"));
    assert_ok(parse("--metrics-client-ca-file=f"));
    assert_ok(parse("--tls-reload-interval=100ms"));
    assert_ok(parse("--v=5"));
    assert_ok(parse("--log-format=json"));
    assert_string_equal(flags.kubeconfig, "a");
    assert_string_equal(flags.driver_name, "b");
    assert_string_equal(flags.namespace_, "c");
    assert_string_equal(flags.metrics_tls.certificate, "d");
    assert_string_equal(flags.metrics_tls.key, "e");
    assert_string_equal(flags.metrics_tls.client_ca, "f");
    assert_int_equal(flags.tls_reload_interval_ms, 100);
    assert_int_equal(flags.log.verbosity, 5);
    assert_int_equal(flags.log.format, LOG_JSON);
    assert_ok(parse("--log-format=text"));
    assert_int_equal(flags.log.format, LOG_TEXT);
    assert_fails(parse("--v=11"), ERR_INVALID, "--v: \"11\" is not a whole number from 0 to 10");
}

static void test_certificates_go_together(void **state)
{
    const struct {
        struct tls_files files;
        const char *address, *fault; /* NULL: none */
    } rows[] = {
        {{"--metrics-", "", "", ""}, "", NULL},
        {{"--metrics-", "c", "k", ""}, "0.0.0.0:1", NULL},
        {{"--metrics-", "c", "k", "a"}, "0.0.0.0:1", NULL},
        {{"--metrics-", "c", "", ""},
         "0.0.0.0:1",
         "--metrics-tls-cert-file and --metrics-tls-key-file must be set together"},
        {{"--", "", "k", ""},
         "0.0.0.0:1",
         "--tls-cert-file and --tls-key-file must be set together"},
        {{"--metrics-", "", "", "a"},
         "0.0.0.0:1",
         "--metrics-client-ca-file requires --metrics-tls-cert-file"},
        {{"--metrics-", "c", "k", ""}, "", "--metrics-tls-cert-file requires --metrics-address"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct captured_stderr capture = capture_stderr();
        int status = 0;
        bool good = tls_flags_check("program", &rows[i].files, rows[i].address, &status);
        CLEANUP(freep) char *said = captured_text(capture);
        CLEANUP(freep)
        char *expected =
            rows[i].fault ? mem_printf("program: %s\n", rows[i].fault) : mem_strdup("");

        assert_int_equal(good, !rows[i].fault);
        assert_int_equal(status, rows[i].fault ? 2 : 0);
        assert_string_equal(said, expected);
    }
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
        cmocka_unit_test(test_certificates_go_together),
        cmocka_unit_test(test_the_log_is_set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
