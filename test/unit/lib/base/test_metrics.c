#include "lib/base/metrics.h"

#include <pthread.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"
#include "test/unit/expect.h"

static const double bounds[] = {0.5, 1, 10, 0};

static struct metric plain = {"azdisk_plain", "Without labels.", METRIC_GAUGE, {NULL}, NULL, NULL};
static struct metric calls = {"azdisk_calls_total", "Calls.", METRIC_COUNTER,
                              {"method", "code"},   NULL,     NULL};
static struct metric seconds = {"azdisk_seconds", "Time.", METRIC_HISTOGRAM, {NULL}, bounds, NULL};
static struct metric by_kind = {
    "azdisk_by_kind_seconds", "Time.", METRIC_HISTOGRAM, {"kind"}, bounds, NULL};
static struct metric four = {"azdisk_four",        "Four labels.", METRIC_GAUGE,
                             {"a", "b", "c", "d"}, NULL,           NULL};

static struct metric *const all[] = {&plain, &calls, &seconds, &by_kind, &four};

static char *written(struct metric *metric)
{
    CLEANUP(buffer_fini) struct buffer out = {.limit = 1 << 20};

    metrics_write(&metric, 1, &out);
    return buffer_take(&out);
}

static int clear(void **state)
{
    (void)state;
    metrics_clear(all, COUNT_OF(all));
    return 0;
}

static void test_a_gauge(void **state)
{
    (void)state;
    metric_add(&plain, 2);
    metric_set(&plain, 10.5);
    metric_add(&plain, -3);
    CLEANUP(freep) char *text = written(&plain);
    assert_string_equal(text, "# HELP azdisk_plain Without labels.\n# TYPE azdisk_plain gauge\n"
                              "azdisk_plain 7.5\n");
}

static void test_what_is_rare_begins_at_zero(void **state)
{
    (void)state;
    metric_begin(&calls, "attach", "Throttled");
    metric_begin(&by_kind, "read");
    CLEANUP(freep) char *counter = written(&calls);
    CLEANUP(freep) char *histogram = written(&by_kind);
    assert_non_null(
        strstr(counter, "azdisk_calls_total{method=\"attach\",code=\"Throttled\"} 0\n"));
    assert_non_null(
        strstr(histogram, "azdisk_by_kind_seconds_bucket{kind=\"read\",le=\"+Inf\"} 0\n"));
    assert_non_null(strstr(histogram, "azdisk_by_kind_seconds_sum{kind=\"read\"} 0\n"));
    assert_non_null(strstr(histogram, "azdisk_by_kind_seconds_count{kind=\"read\"} 0\n"));

    metric_add(&calls, 2, "attach", "Throttled");
    metric_begin(&calls, "attach", "Throttled");
    CLEANUP(freep) char *later = written(&calls);
    assert_non_null(strstr(later, "azdisk_calls_total{method=\"attach\",code=\"Throttled\"} 2\n"));
}

static void test_labels_make_series_and_are_escaped(void **state)
{
    (void)state;
    metric_add(&calls, 1, "attach", "OK");
    metric_add(&calls, 1, "det\"a\\c\nh", "OK");
    metric_add(&calls, 2, "attach", "OK");
    metric_add(&calls, 1, "attach");
    metric_set(&four, 4, "1", "2", "3", "4");
    CLEANUP(freep) char *text = written(&calls);
    CLEANUP(freep) char *text_of_four = written(&four);
    assert_string_equal(text, "# HELP azdisk_calls_total Calls.\n"
                              "# TYPE azdisk_calls_total counter\n"
                              "azdisk_calls_total{method=\"attach\",code=\"OK\"} 3\n"
                              "azdisk_calls_total{method=\"det\\\"a\\\\c\\nh\",code=\"OK\"} 1\n"
                              "azdisk_calls_total{method=\"attach\",code=\"\"} 1\n");
    assert_non_null(strstr(text_of_four, "azdisk_four{a=\"1\",b=\"2\",c=\"3\",d=\"4\"} 4\n"));
}

static void test_histograms_are_cumulative(void **state)
{
    static const double observations[] = {0.25, 0.5, 0.75, 10, 11, 1000};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(observations); i++)
        metric_observe(&seconds, observations[i]);
    metric_observe(&by_kind, 3, "disk");
    CLEANUP(freep) char *text = written(&seconds);
    CLEANUP(freep) char *text_by_kind = written(&by_kind);
    assert_string_equal(text, "# HELP azdisk_seconds Time.\n# TYPE azdisk_seconds histogram\n"
                              "azdisk_seconds_bucket{le=\"0.5\"} 2\n"
                              "azdisk_seconds_bucket{le=\"1\"} 3\n"
                              "azdisk_seconds_bucket{le=\"10\"} 4\n"
                              "azdisk_seconds_bucket{le=\"+Inf\"} 6\n"
                              "azdisk_seconds_sum 1022.5\n"
                              "azdisk_seconds_count 6\n");
    assert_non_null(strstr(text_by_kind, "_bucket{kind=\"disk\",le=\"1\"} 0\n"));
    assert_non_null(strstr(text_by_kind, "_bucket{kind=\"disk\",le=\"10\"} 1\n"));
    assert_non_null(strstr(text_by_kind, "_sum{kind=\"disk\"} 3\n"));
}

/* What is beyond the bound is not lost, but counted in one series. */
static void test_series_are_bounded(void **state)
{
    char name[32];

    (void)state;
    for (int i = 0; i < METRIC_MAX_SERIES + 100; i++) {
        snprintf(name, sizeof name, "method%d", i);
        metric_add(&calls, 1, name, "OK");
    }
    metric_add(&calls, 1, "method0", "OK");
    CLEANUP(freep) char *text = written(&calls);
    assert_non_null(strstr(text, "{method=\"method0\",code=\"OK\"} 2\n"));
    assert_non_null(strstr(text, "{method=\"method511\",code=\"OK\"} 1\n"));
    assert_null(strstr(text, "method512"));
    assert_non_null(strstr(text, "{method=\"other\",code=\"other\"} 100\n"));
}

static void test_long_label_values_are_cut(void **state)
{
    char value[1000];
    CLEANUP(freep) char *expected = mem_alloc(300);

    (void)state;
    memset(value, '"', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    metric_set(&four, 1, value, value, value, value);
    for (int i = 0; i < 128; i++)
        memcpy(expected + 2 * i, "\\\"", 2);
    memcpy(expected + 256, "\",b=", 5);
    CLEANUP(freep) char *text = written(&four);
    assert_non_null(strstr(text, expected));
}

static void test_label_values_are_cut_between_characters(void **state)
{
    char fits[128] = "";

    (void)state;
    memset(fits, 'a', sizeof fits - 1);
    CLEANUP(freep) char *value = mem_printf("%s\xe2\x82\xac", fits);
    CLEANUP(freep) char *whole = mem_printf("{method=\"%s\",code=\"\"} 1\n", fits);
    metric_add(&calls, 1, value);
    CLEANUP(freep) char *text = written(&calls);
    assert_non_null(strstr(text, whole));
}

static void test_clear_drops_every_series(void **state)
{
    (void)state;
    metric_add(&plain, 1);
    metrics_clear(all, COUNT_OF(all));
    CLEANUP(freep) char *text = written(&plain);
    assert_string_equal(text, "# HELP azdisk_plain Without labels.\n# TYPE azdisk_plain gauge\n");
}

enum { THREADS = 4, ADDS = 10000 };

static void *add_many(void *arg)
{
    (void)arg;
    for (int i = 0; i < ADDS; i++)
        metric_add(&calls, 1, i % 2 ? "attach" : "detach", "OK");
    return NULL;
}

static void test_any_thread_may_count(void **state)
{
    pthread_t threads[THREADS];
    char expected[100];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CLEANUP(freep) char *text = written(&calls);
    snprintf(expected, sizeof expected, "{method=\"attach\",code=\"OK\"} %d\n", THREADS * ADDS / 2);
    assert_non_null(strstr(text, expected));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_a_gauge, clear),
        cmocka_unit_test_teardown(test_what_is_rare_begins_at_zero, clear),
        cmocka_unit_test_teardown(test_labels_make_series_and_are_escaped, clear),
        cmocka_unit_test_teardown(test_histograms_are_cumulative, clear),
        cmocka_unit_test_teardown(test_series_are_bounded, clear),
        cmocka_unit_test_teardown(test_long_label_values_are_cut, clear),
        cmocka_unit_test_teardown(test_label_values_are_cut_between_characters, clear),
        cmocka_unit_test_teardown(test_clear_drops_every_series, clear),
        cmocka_unit_test_teardown(test_any_thread_may_count, clear),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
