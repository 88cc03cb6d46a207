/* azdisk-sim: the whole controller in simulated clusters, a scenario for each seed. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/base/options.h"
#include "test/sim/batch.h"
#include "test/sim/scale.h"
#include "test/sim/scenario.h"

#define ABOUT                                                                                      \
    "Runs azdisk-controller in simulated clusters, with faults at every step, and checks that "    \
    "all "                                                                                         \
    "invariants hold; docs/simulation.md says more. Exit status 1 if one did not."

static struct arguments {
    int64_t seed, rate, minutes, jobs;
    const char *seeds, *profile, *landscape, *with, *incidents, *report, *save, *scale;
    struct landscape parsed_landscape;
    bool trace, shrink, first, list;
} arguments = {.seed = 1, .rate = 20, .jobs = 1};

static const struct option_row rows[] = {
    {.name = "seed",
     .type = OPTION_INT,
     .target = &arguments.seed,
     .help = "one seed, in one process",
     .least = 0},
    {.name = "seeds",
     .type = OPTION_STRING,
     .target = &arguments.seeds,
     .help = "seeds FIRST:LAST instead"},
    {.name = "profile",
     .type = OPTION_STRING,
     .target = &arguments.profile,
     .help = "what happens, and how often; by the seed if none is given"},
    {.name = "landscape",
     .type = OPTION_STRING,
     .target = &arguments.landscape,
     .help =
         "what kind of cluster, for example \"uniform elsewhere\"; by the seed if none is given"},
    {.name = "with",
     .type = OPTION_STRING,
     .target = &arguments.with,
     .help = "kinds of incidents, with commas, that happen in every scenario"},
    {.name = "rate",
     .type = OPTION_INT,
     .target = &arguments.rate,
     .help = "how often they happen, per hour",
     .least = 1,
     .most = 3600},
    {.name = "incidents",
     .type = OPTION_STRING,
     .target = &arguments.incidents,
     .help = "file of a scenario to play again, as it was saved"},
    {.name = "minutes",
     .type = OPTION_INT,
     .target = &arguments.minutes,
     .help = "no new scenario begins after so many minutes of CPU time; 0: no limit",
     .least = 0},
    {.name = "jobs",
     .type = OPTION_INT,
     .target = &arguments.jobs,
     .help = "scenarios at a time, each in a process",
     .least = 1,
     .most = BATCH_JOBS},
    {.name = "trace",
     .type = OPTION_BOOL,
     .target = &arguments.trace,
     .help = "print what happens"},
    {.name = "shrink",
     .type = OPTION_BOOL,
     .target = &arguments.shrink,
     .help = "look for the shortest history that violates the same invariant"},
    {.name = "first",
     .type = OPTION_BOOL,
     .target = &arguments.first,
     .help = "end after the first violation"},
    {.name = "save",
     .type = OPTION_STRING,
     .target = &arguments.save,
     .help = "folder for what was found by --shrink"},
    {.name = "report",
     .type = OPTION_STRING,
     .target = &arguments.report,
     .help = "JSON file for the sums"},
    {.name = "scale",
     .type = OPTION_STRING,
     .target = &arguments.scale,
     .help = "NODES:VOLUMES; measures promotions, creations and memory in such a cluster instead"},
    {.name = "list",
     .type = OPTION_BOOL,
     .target = &arguments.list,
     .help = "print the profiles and the kinds of incidents"},
};

/* ---- what is asked for ---- */

static struct err *read_seeds(const struct arguments *from, struct batch *to)
{
    char *end = NULL;

    to->first = to->last = (uint64_t)from->seed;
    if (!from->seeds)
        return NULL;
    to->first = strtoull(from->seeds, &end, 10);
    if (*end == ':')
        to->last = strtoull(end + 1, &end, 10);
    if (*end || to->last < to->first)
        return err_new(ERR_INVALID, "--seeds: \"%s\" is not FIRST:LAST", from->seeds);
    return NULL;
}

static struct err *read_kinds(const char *list, struct batch *to)
{
    while (list && *list) {
        size_t length = strcspn(list, ",");
        CLEANUP(freep) char *name = mem_strndup(list, length);
        const struct incident_kind *kind = incident_kind_find(name);

        if (!kind || to->n_with == BATCH_KINDS)
            return err_new(ERR_INVALID, "--with: \"%s\" is one too many, or no kind of incident",
                           name);
        to->with[to->n_with++] = kind;
        list += length + (list[length] == ',');
    }
    return NULL;
}

static struct err *read_batch(struct arguments *from, struct batch *to)
{
    *to = (struct batch){.jobs = (unsigned)from->jobs,
                         .with_per_hour = (double)from->rate,
                         .cpu_limit_s = (uint64_t)from->minutes * 60,
                         .trace = from->trace,
                         .shrink = from->shrink,
                         .first_only = from->first,
                         .save = from->save};
    TRY(read_seeds(from, to));
    if (from->profile && !(to->profile = profile_find(from->profile)))
        return err_new(ERR_INVALID, "--profile: there is no profile \"%s\"", from->profile);
    if (from->landscape) {
        TRY(landscape_parse(from->landscape, &from->parsed_landscape));
        to->landscape = &from->parsed_landscape;
    }
    return read_kinds(from->with, to);
}

/* ---- what is done ---- */

static void list_all(void)
{
    for (const struct profile *profile = PROFILES; profile->name; profile++)
        printf("profile  %s\n", profile->name);
    for (const struct incident_kind *kind = NULL; (kind = incident_kind_next(kind));)
        printf("%s %s\n", kind->bad ? "fault   " : "work    ", kind->name);
}

/* A scenario from a file, again. */
static struct err *replay(const struct arguments *from, bool *ret_good)
{
    struct sim_config config = {.trace = from->trace};
    struct outcome outcome;

    TRY(scenario_read(from->incidents, &config));
    run_once(&config, &outcome);
    *ret_good = verdict_is_good(&outcome.verdict);
    if (!*ret_good)
        print_violation(&config, from->incidents, &outcome.verdict);
    if (!*ret_good && from->shrink) {
        scenario_shrink(&config, &outcome.verdict, 400);
        print_violation(&config, "shrunk", &outcome.verdict);
    }
    free((void *)(uintptr_t)config.incidents);
    outcome_fini(&outcome);
    return NULL;
}

static struct err *write_report(const json_t *json, const char *path)
{
    if (path && json_dump_file(json, path, JSON_INDENT(1) | JSON_SORT_KEYS) != 0)
        return err_new(ERR_INTERNAL, "cannot write %s", path);
    return NULL;
}

static struct err *run_batch(struct arguments *from, bool *ret_good)
{
    struct batch batch;

    TRY(read_batch(from, &batch));
    batch_run(&batch);
    *ret_good = json_array_size(batch.violations) == 0;
    CLEANUP(json_decrefp) json_t *json = batch_json(&batch);
    printf("%u seeds, %zu violations, %.1f hours simulated in %.1f s of CPU time: %.1f hours per "
           "CPU minute\n",
           batch.seeds, json_array_size(batch.violations), batch.simulated_h, batch.cpu_s,
           json_real_value(json_object_get(json, "scenario_hours_per_cpu_minute")));
    batch_fini(&batch);
    return write_report(json, from->report);
}

static struct err *measure_scale(const struct arguments *from)
{
    struct scale_report report;
    unsigned nodes, volumes;

    if (sscanf(from->scale, "%u:%u", &nodes, &volumes) != 2 || nodes == 0 || volumes < 100)
        return err_new(ERR_INVALID, "--scale: \"%s\" is not NODES:VOLUMES, 100 volumes at least",
                       from->scale);
    scale_run(nodes, volumes, &report);
    CLEANUP(json_decrefp) json_t *json = scale_json(&report);
    CLEANUP(freep) char *text = json_dumps(json, JSON_INDENT(1));
    puts(text);
    return write_report(json, from->report);
}

int main(int argc, char *argv[])
{
    bool good = true;
    int status;

    if (!options_start(rows, COUNT_OF(rows), "azdisk-sim", ABOUT, argc, argv, &status))
        return status;
    log_setup(arguments.trace ? 2 : 0, LOG_TEXT);
    if (arguments.list) {
        list_all();
        return 0;
    }
    CLEANUP(err_freep)
    struct err *err = arguments.scale       ? measure_scale(&arguments)
                      : arguments.incidents ? replay(&arguments, &good)
                                            : run_batch(&arguments, &good);
    if (err)
        fprintf(stderr, "azdisk-sim: %s\n", err_message(err));
    return err ? 2 : good ? 0 : 1;
}
