/* metrics.h - counters, gauges and histograms in Prometheus' text format.
 *
 * A metric is a static struct with its name, help, label names and, for a histogram, buckets; a
 * program lists its metrics in one table. Series appear with their first value, or by metric_begin.
 * Label values come from closed sets; METRIC_MAX_SERIES is the bound in case one does not, and what
 * is beyond it is counted in the series whose labels are all "other". Any thread.
 *
 * Units are seconds and bytes; a counter's name ends in _total (prometheus.io/docs/practices).
 */
#pragma once

#include <stddef.h>

#include "lib/base/buffer.h"

enum {
    METRIC_MAX_LABELS = 5,
    METRIC_MAX_SERIES = 512,
};

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

struct metric_series;

struct metric {
    const char *name, *help;
    enum metric_type type;
    const char *labels[METRIC_MAX_LABELS]; /* names; NULL at the end */
    const double *buckets;                 /* upper bounds, ascending, 0 at the end */
    struct metric_series *series;          /* owned by metrics.c */
};

/* Label values in the order of the names; none if the metric has no labels. */
#define metric_add(metric, amount, ...)                                                            \
    metric_update((metric), (amount), (const char *const[METRIC_MAX_LABELS]){__VA_ARGS__})
#define metric_set(metric, value, ...)                                                             \
    metric_assign((metric), (value), (const char *const[METRIC_MAX_LABELS]){__VA_ARGS__})
#define metric_observe metric_add /* of a histogram */
#define metric_begin(metric, ...)                                                                  \
    metric_declare((metric), (const char *const[METRIC_MAX_LABELS]){__VA_ARGS__})

/* Counter and gauge: add; histogram: count one observation of `amount`. */
void metric_update(struct metric *metric, double amount, const char *const *labels);
/* Counter and histogram: the series is there from now on, at 0 if there is nothing yet. Who watches
 * whether it grows does not see the first value that it has. */
void metric_declare(struct metric *metric, const char *const *labels);
/* Gauge only. */
void metric_assign(struct metric *metric, double value, const char *const *labels);

/* All of them, as /metrics answers. */
void metrics_write(struct metric *const *metrics, size_t n, struct buffer *out);
void metrics_clear(struct metric *const *metrics, size_t n); /* drops every series */

extern const double METRIC_SECONDS[]; /* 1 ms to 10 min: buckets for how long something took */
