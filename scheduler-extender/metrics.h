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

/* Sets the gauges that follow from the stores. */
void metrics_refresh(const struct extender *extender);
