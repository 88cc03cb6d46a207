/* batch.h - many seeds, several at a time, and what they add up to.
 */
#pragma once

#include <jansson.h>

#include "lib/base/err.h"
#include "test/sim/run.h"

enum { BATCH_JOBS = 16, BATCH_KINDS = 16 };

struct batch {
    uint64_t first, last;              /* seeds, both included */
    const struct profile *profile;     /* NULL: by the seed */
    const struct landscape *landscape; /* likewise */
    /* Kinds of incidents that happen in every scenario, and how often. */
    const struct incident_kind *with[BATCH_KINDS];
    size_t n_with;
    double with_per_hour;
    unsigned jobs;
    uint64_t cpu_limit_s; /* no new scenario begins when they have used so much; 0: no limit */
    bool trace, shrink;
    bool first_only;  /* the first violation is enough */
    const char *save; /* the folder for what is shrunk */

    unsigned seeds;
    double simulated_h, cpu_s;
    json_t *violations; /* list of {"seed", "profile", ...} */
};

/* Runs them; prints each violation as soon as it is there. */
void batch_run(struct batch *batch);
void batch_fini(struct batch *batch);
/* {"seeds", "violations", "violated": [{"seed", "profile", "invariant", ...}], "coverage", ...} */
json_t *batch_json(const struct batch *batch);

/* The scenario of a seed; its incidents are the caller's. */
void batch_scenario(const struct batch *batch, uint64_t seed, struct sim_config *ret);
void print_violation(const struct sim_config *config, const char *profile,
                     const struct verdict *verdict);
