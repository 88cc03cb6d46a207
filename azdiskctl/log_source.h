/* log_source.h - the containers whose logs are worth reading, by what their pods say. Pure.
 */
#pragma once

#include <jansson.h>

/* Adds {"namespace", "pod", "container", "previous", "daemon", "node", "id", "running"} for each
 * container of the pod that has run, and again with "previous" for each that ran before. `daemon`:
 * there is one on each node. `id` is another one after each restart. What ran before is not
 * running. */
void log_sources_add(json_t *sources, const json_t *pod);

/* Those of which there are few first: those of each node may be too many. */
json_t *log_sources_ordered(const json_t *sources) __attribute__((warn_unused_result));
