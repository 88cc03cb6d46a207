/* coverage.h - which situations the scenarios have reached, counted.
 *
 * A situation is a name of three words: "incident STATE KIND" (an incident began while an
 * attachment was in that state), "leader STATE from" (another controller began to lead, likewise),
 * "fault FAULT REQUEST" (a fault of Azure struck that kind of request) ... The counters belong to
 * the process; the runs of a batch add theirs up. coverage.txt lists the situations that have to be
 * reached.
 */
#pragma once

#include <jansson.h>

struct sim;
struct incident;

void coverage_count(const char *what, const char *state, const char *event);

/* {"fault hangUp disks.get": 3} */
json_t *coverage_json(void);
void coverage_add(json_t *more);
void coverage_forget(void);
