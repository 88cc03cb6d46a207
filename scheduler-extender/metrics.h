/* metrics.h - what the scheduler extender counts. A new metric is a definition here, one in
 * metrics.c and a word in its table.
 */
#pragma once

#include "lib/base/metrics.h"
#include "scheduler-extender/extender.h"

extern struct metric *const EXTENDER_METRICS[];
extern const size_t N_EXTENDER_METRICS;

enum verb { VERB_FILTER, VERB_PRIORITIZE };

/* Counts an answered question; `err` NULL: answered well. */
void metrics_count(enum verb verb, const struct err *err, double seconds);

/* Counts a new pod that the webhook was asked about; `err` NULL: it was understood. */
void metrics_count_placement(const struct err *err, bool patched, double seconds);
/* Counts an attempt to take an overdue gate away. */
void metrics_count_gate(const struct err *err);

/* Sets the gauges that follow from the stores. */
void metrics_refresh(const struct extender *extender);
