#include "test/sim/batch.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "test/sim/coverage.h"
#include "test/sim/scenario.h"

enum { HOUR_MS = 60 * 60 * 1000, SHRINK_RUNS = 400, TELL_EVERY = 1000 };

static const struct profile *profile_for(const struct batch *batch, uint64_t seed)
{
    return batch->profile ? batch->profile : profile_of_seed(seed);
}

void batch_scenario(const struct batch *batch, uint64_t seed, struct sim_config *ret)
{
    const struct profile *profile = profile_for(batch, seed);
    size_t n;
    struct incident *incidents = scenario_draw(profile, seed, &n);

    for (size_t i = 0; i < batch->n_with; i++)
        scenario_add(profile, seed, batch->with[i], batch->with_per_hour, &incidents, &n);
    *ret = (struct sim_config){
        .seed = seed,
        .landscape = batch->landscape ? *batch->landscape : landscape_of_seed(seed),
        .incidents = incidents,
        .n_incidents = n,
        .quiet_ms = profile->length_ms,
        .finish_ms = profile->length_ms + profile->quiet_ms,
        .trace = batch->trace,
    };
}

/* ---- violations ---- */

void print_violation(const struct sim_config *config, const char *profile,
                     const struct verdict *verdict)
{
    if (verdict->notes)
        printf("%s", verdict->notes);
    CLEANUP(freep) char *landscape = landscape_text(&config->landscape);
    printf("seed %lu, %s, %s, %.3f s, step %lu, %zu incidents\n  %s: %s\n  %s\n",
           (unsigned long)config->seed, profile, landscape, (double)verdict->at_ms / 1000,
           (unsigned long)verdict->step, config->n_incidents, verdict->invariant, verdict->what,
           verdict->loss);
    fflush(stdout);
}

/* "i5-a-published-volume-stays-attached-17.json" */
static char *file_name(const struct batch *batch, const struct sim_config *config,
                       const struct verdict *verdict)
{
    char *path =
        mem_printf("%s/%s-%lu.json", batch->save, verdict->invariant, (unsigned long)config->seed);

    for (char *c = path + strlen(batch->save) + 1; *c; c++)
        *c = (char)(isalnum((unsigned char)*c) || *c == '.' ? tolower((unsigned char)*c) : '-');
    return path;
}

static void shrink(const struct batch *batch, struct sim_config *config, struct verdict *verdict)
{
    scenario_shrink(config, verdict, SHRINK_RUNS);
    print_violation(config, "shrunk", verdict);
    if (!batch->save)
        return;
    CLEANUP(freep) char *path = file_name(batch, config, verdict);
    CLEANUP(err_freep) struct err *err = scenario_write(path, config, verdict);
    printf("%s\n", err ? err_message(err) : path);
}

static void add_violation(struct batch *batch, const struct sim_config *config,
                          const struct verdict *verdict)
{
    const char *profile = profile_for(batch, config->seed)->name;

    print_violation(config, profile, verdict);
    json_array_append_new(batch->violations,
                          json_pack("{s:I, s:s, s:s, s:s, s:f}", "seed", (json_int_t)config->seed,
                                    "profile", profile, "invariant", verdict->invariant, "what",
                                    verdict->what, "at_s", (double)verdict->at_ms / 1000));
}

/* ---- all of them ---- */

static void tell(const struct batch *batch)
{
    printf("%u seeds, %zu violations, %.0f minutes of CPU time so far\n", batch->seeds,
           json_array_size(batch->violations), batch->cpu_s / 60);
    fflush(stdout);
}

static void take_outcome(struct batch *batch, struct run *run, struct outcome *outcome,
                         bool *ret_shrink)
{
    batch->cpu_s += outcome->cpu_s;
    if (++batch->seeds % TELL_EVERY == 0)
        tell(batch);
    coverage_add(outcome->coverage);
    if (verdict_is_good(&outcome->verdict)) {
        batch->simulated_h += (double)run->config.finish_ms / HOUR_MS;
        return;
    }
    batch->simulated_h += (double)outcome->verdict.at_ms / HOUR_MS;
    add_violation(batch, &run->config, &outcome->verdict);
    *ret_shrink = batch->shrink;
}

/* The incidents belong to the run that has ended. */
static void end_one(struct batch *batch, struct run *runs)
{
    struct outcome outcome;
    struct run *run = run_wait(runs, batch->jobs, &outcome);
    bool wanted = false;

    if (!run)
        return;
    take_outcome(batch, run, &outcome, &wanted);
    struct sim_config config = run->config;
    if (wanted && batch->jobs == 1)
        shrink(batch, &config, &outcome.verdict);
    free((void *)(uintptr_t)config.incidents);
    outcome_fini(&outcome);
}

static struct run *idle(const struct batch *batch, struct run *runs)
{
    for (size_t i = 0; i < batch->jobs; i++)
        if (runs[i].pid == 0)
            return &runs[i];
    return NULL;
}

static bool may_go_on(const struct batch *batch)
{
    if (batch->first_only && json_array_size(batch->violations) > 0)
        return false;
    return batch->cpu_limit_s == 0 || batch->cpu_s < (double)batch->cpu_limit_s;
}

void batch_run(struct batch *batch)
{
    struct run runs[BATCH_JOBS] = {{.pid = 0}};
    struct sim_config config;

    if (batch->shrink)
        batch->jobs = 1; /* shrinking waits for processes of its own */
    batch->violations = json_array();
    for (uint64_t seed = batch->first; seed <= batch->last && may_go_on(batch); seed++) {
        if (!idle(batch, runs))
            end_one(batch, runs);
        batch_scenario(batch, seed, &config);
        run_start(idle(batch, runs), &config);
    }
    for (size_t i = 0; i < batch->jobs; i++)
        end_one(batch, runs);
}

void batch_fini(struct batch *batch)
{
    json_decref(batch->violations);
    coverage_forget();
}

json_t *batch_json(const struct batch *batch)
{
    double minutes = batch->cpu_s / 60;

    return json_pack("{s:i, s:i, s:O, s:f, s:f, s:f, s:o}", "seeds", (int)batch->seeds,
                     "violations", (int)json_array_size(batch->violations), "violated",
                     batch->violations, "simulated_hours", batch->simulated_h, "cpu_seconds",
                     batch->cpu_s, "scenario_hours_per_cpu_minute",
                     minutes > 0 ? batch->simulated_h / minutes : 0.0, "coverage", coverage_json());
}
