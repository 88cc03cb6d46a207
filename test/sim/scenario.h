/* scenario.h - scenarios as files, and made shorter.
 *
 * A file is what scenario_json writes, with the times at which the scenario becomes quiet and ends.
 * A regression is such a file in test/sim/regressions, with the invariant that it once violated.
 */
#pragma once

#include "test/sim/run.h"

/* The caller's incidents are in `ret`, freed by free(). */
struct err *scenario_read(const char *path, struct sim_config *ret)
    __attribute__((warn_unused_result));
/* `verdict` may be NULL. */
struct err *scenario_write(const char *path, const struct sim_config *config,
                           const struct verdict *verdict) __attribute__((warn_unused_result));

/* Leaves out incidents as long as the same invariant is violated, in not more than `most_runs`
 * runs. `config` has the incidents that remain, `verdict` what they lead to. */
void scenario_shrink(struct sim_config *config, struct verdict *verdict, unsigned most_runs);
