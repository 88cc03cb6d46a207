#include "lib/base/metrics.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/hash.h"
#include "lib/base/utf8.h"

enum { MAX_BUCKETS = 24, MAX_LABEL_LENGTH = 128 };

struct metric_series {
    char *key;                   /* label="value",... as it is printed */
    double value;                /* of a histogram: the sum */
    uint64_t count;              /* of observations */
    uint64_t below[MAX_BUCKETS]; /* observations in each bucket, not cumulative */
    UT_hash_handle hh;
};

const double METRIC_SECONDS[] = {0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1,   2,
                                 5,     10,    20,   30,   60,  120,  300, 600, 0};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* At most so much of a value, as it is printed: some of its characters take two. Prometheus takes
 * nothing of a text with half a character in it. */
static char *write_value(char *end, const char *value)
{
    size_t length = utf8_cut(value, MAX_LABEL_LENGTH);

    for (size_t n = 0; n < length; n++) {
        bool newline = value[n] == '\n';

        if (newline || value[n] == '"' || value[n] == '\\')
            *end++ = '\\';
        *end++ = newline ? 'n' : value[n];
    }
    return end;
}

static char *series_key(const struct metric *metric, const char *const *values)
{
    size_t size = 1;

    for (int i = 0; i < METRIC_MAX_LABELS && metric->labels[i]; i++)
        size += strlen(",=\"\"") + strlen(metric->labels[i]) + 2 * MAX_LABEL_LENGTH;
    char *key = mem_alloc(size), *end = key;
    for (int i = 0; i < METRIC_MAX_LABELS && metric->labels[i]; i++) {
        end = stpcpy(end, i ? "," : "");
        end = stpcpy(end, metric->labels[i]);
        end = stpcpy(end, "=\"");
        end = write_value(end, values[i] ? values[i] : "");
        end = stpcpy(end, "\"");
    }
    return key;
}

static struct metric_series *series_of(struct metric *metric, const char *const *values)
{
    static const char *const other[METRIC_MAX_LABELS] = {"other", "other", "other", "other",
                                                         "other"};
    CLEANUP(freep) char *key = series_key(metric, values);
    struct metric_series *series;

    HASH_FIND_STR(metric->series, key, series);
    if (series)
        return series;
    if (HASH_COUNT(metric->series) >= METRIC_MAX_SERIES && values != other)
        return series_of(metric, other);
    series = mem_alloc(sizeof *series);
    series->key = mem_strdup(key); /* no longer than needed */
    HASH_ADD_KEYPTR(hh, metric->series, series->key, strlen(series->key), series);
    return series;
}

static void observe(const struct metric *metric, struct metric_series *series, double value)
{
    int bucket = 0;

    while (metric->buckets[bucket] && value > metric->buckets[bucket])
        bucket++;
    assert(bucket < MAX_BUCKETS);
    series->below[bucket]++;
    series->count++;
}

void metric_update(struct metric *metric, double amount, const char *const *labels)
{
    pthread_mutex_lock(&lock);
    struct metric_series *series = series_of(metric, labels);

    series->value += amount;
    if (metric->type == METRIC_HISTOGRAM)
        observe(metric, series, amount);
    pthread_mutex_unlock(&lock);
}

void metric_declare(struct metric *metric, const char *const *labels)
{
    assert(metric->type != METRIC_GAUGE);
    pthread_mutex_lock(&lock);
    series_of(metric, labels);
    pthread_mutex_unlock(&lock);
}

void metric_assign(struct metric *metric, double value, const char *const *labels)
{
    assert(metric->type == METRIC_GAUGE);
    pthread_mutex_lock(&lock);
    series_of(metric, labels)->value = value;
    pthread_mutex_unlock(&lock);
}

static void write_sample(const struct metric *metric, const char *suffix,
                         const struct metric_series *series, double value, struct buffer *out)
{
    if (series->key[0])
        buffer_printf(out, "%s%s{%s} %.17g\n", metric->name, suffix, series->key, value);
    else
        buffer_printf(out, "%s%s %.17g\n", metric->name, suffix, value);
}

static void write_histogram(const struct metric *metric, const struct metric_series *series,
                            struct buffer *out)
{
    const char *comma = series->key[0] ? "," : "";
    uint64_t total = 0;

    for (int i = 0; metric->buckets[i]; i++) {
        total += series->below[i];
        buffer_printf(out, "%s_bucket{%s%sle=\"%g\"} %" PRIu64 "\n", metric->name, series->key,
                      comma, metric->buckets[i], total);
    }
    buffer_printf(out, "%s_bucket{%s%sle=\"+Inf\"} %" PRIu64 "\n", metric->name, series->key, comma,
                  series->count);
    write_sample(metric, "_sum", series, series->value, out);
    write_sample(metric, "_count", series, (double)series->count, out);
}

static void write_metric(const struct metric *metric, struct buffer *out)
{
    static const char *const types[] = {"counter", "gauge", "histogram"};

    buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help, metric->name,
                  types[metric->type]);
    HASH_FOREACH(metric->series, series) {
        if (metric->type == METRIC_HISTOGRAM)
            write_histogram(metric, series, out);
        else
            write_sample(metric, "", series, series->value, out);
    }
}

void metrics_write(struct metric *const *metrics, size_t n, struct buffer *out)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n; i++)
        write_metric(metrics[i], out);
    pthread_mutex_unlock(&lock);
}

void metrics_clear(struct metric *const *metrics, size_t n)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n; i++)
        HASH_FOREACH(metrics[i]->series, series) {
            HASH_DEL(metrics[i]->series, series);
            free(series->key);
            free(series);
        }
    pthread_mutex_unlock(&lock);
}
