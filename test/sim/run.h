/* run.h - runs of scenarios, each in a process of its own: one that crashes, hangs or leaks is a
 * violation like others, and nothing passes from one to the next.
 */
#pragma once

#include <jansson.h>
#include <sys/types.h>

#include "test/sim/sim.h"
#include "test/sim/verdict.h"

struct run {
    struct sim_config config;
    pid_t pid;          /* 0: none */
    int result, errors; /* files in memory: what it found, and what it wrote to stderr */
};

struct outcome {
    struct verdict verdict;
    json_t *coverage;
    double cpu_s;
};

/* Starts it; the config's incidents must stay until it has ended. */
void run_start(struct run *run, const struct sim_config *config);
/* Waits until one of them has ended, and says which and what became of it; NULL if none runs. */
struct run *run_wait(struct run *runs, size_t n, struct outcome *ret);
/* Both. */
void run_once(const struct sim_config *config, struct outcome *ret);
void outcome_fini(struct outcome *outcome);
