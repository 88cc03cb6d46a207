#include "test/sim/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/file.h"
#include "lib/json/parse.h"

enum { LARGEST_FILE = 4 * 1024 * 1024 };

/* ---- files ---- */

struct err *scenario_read(const char *path, struct sim_config *ret)
{
    CLEANUP(freep) char *text = NULL;
    CLEANUP(json_decrefp) json_t *json = NULL;
    struct incident *incidents;
    size_t length;

    TRY(file_read(path, LARGEST_FILE, &text, &length));
    TRY(json_parse_here(text, length, &json));
    const char *landscape = json_string_value(json_object_get(json, "landscape"));
    TRY(landscape_parse(landscape ? landscape : "", &ret->landscape));
    TRY(scenario_of_json(json, &ret->seed, &incidents, &ret->n_incidents));
    ret->incidents = incidents;
    ret->quiet_ms = (uint64_t)json_integer_value(json_object_get(json, "quiet_ms"));
    ret->finish_ms = (uint64_t)json_integer_value(json_object_get(json, "finish_ms"));
    return NULL;
}

struct err *scenario_write(const char *path, const struct sim_config *config,
                           const struct verdict *verdict)
{
    CLEANUP(json_decrefp)
    json_t *json = scenario_json(config->seed, config->incidents, config->n_incidents);
    CLEANUP(freep) char *landscape = landscape_text(&config->landscape);

    json_object_set_new(json, "landscape", json_string(landscape));
    json_object_set_new(json, "quiet_ms", json_integer((json_int_t)config->quiet_ms));
    json_object_set_new(json, "finish_ms", json_integer((json_int_t)config->finish_ms));
    if (verdict && verdict->invariant) {
        json_object_set_new(json, "invariant", json_string(verdict->invariant));
        json_object_set_new(json, "what", json_string(verdict->what));
    }
    if (json_dump_file(json, path, JSON_INDENT(1) | JSON_PRESERVE_ORDER) != 0)
        return err_new(ERR_INTERNAL, "cannot write %s", path);
    return NULL;
}

/* ---- shorter ones ---- */

struct shrinking {
    struct sim_config *config;
    struct verdict *verdict;
    unsigned runs_left;
};

/* Whether a part of the incidents is enough; then it becomes the whole. Takes the incidents. */
static bool try_part(struct shrinking *shrinking, struct incident *incidents, size_t n)
{
    struct sim_config part = *shrinking->config;
    struct outcome outcome;

    part.incidents = incidents;
    part.n_incidents = n;
    part.trace = false;
    shrinking->runs_left--;
    run_once(&part, &outcome);
    const char *invariant = outcome.verdict.invariant;
    bool same = invariant && strcmp(invariant, shrinking->verdict->invariant) == 0;
    if (same) {
        struct verdict former = *shrinking->verdict;

        *shrinking->verdict = outcome.verdict;
        outcome.verdict = former;
        free((void *)(uintptr_t)shrinking->config->incidents);
        shrinking->config->incidents = incidents;
        shrinking->config->n_incidents = n;
        printf("  %zu incidents: still %s\n", n, shrinking->verdict->invariant);
    } else {
        free(incidents);
    }
    outcome_fini(&outcome);
    return same;
}

static struct incident *without(const struct sim_config *config, size_t first, size_t n)
{
    struct incident *rest = mem_alloc((config->n_incidents + 1) * sizeof *rest);
    size_t after = config->n_incidents - first - n;

    if (first > 0)
        memcpy(rest, config->incidents, first * sizeof *rest);
    if (after > 0)
        memcpy(rest + first, config->incidents + first + n, after * sizeof *rest);
    return rest;
}

/* What begins after the violation has no part in it. */
static void drop_later(struct shrinking *shrinking)
{
    const struct sim_config *config = shrinking->config;
    size_t n = 0;

    while (n < config->n_incidents && config->incidents[n].at_ms <= shrinking->verdict->at_ms)
        n++;
    if (n < config->n_incidents)
        try_part(shrinking, without(config, n, config->n_incidents - n), n);
}

/* Pieces of a size, one after the other; whether any could be left out. */
static bool drop_pieces(struct shrinking *shrinking, size_t size)
{
    const struct sim_config *config = shrinking->config;
    bool dropped = false;

    for (size_t first = 0; first < config->n_incidents && shrinking->runs_left > 0;) {
        size_t left = config->n_incidents - first, n = size < left ? size : left;

        if (try_part(shrinking, without(config, first, n), config->n_incidents - n))
            dropped = true;
        else
            first += n;
    }
    return dropped;
}

void scenario_shrink(struct sim_config *config, struct verdict *verdict, unsigned most_runs)
{
    struct shrinking shrinking = {config, verdict, most_runs};

    drop_later(&shrinking);
    for (size_t size = (config->n_incidents + 1) / 2; size > 0 && shrinking.runs_left > 0;) {
        bool dropped = drop_pieces(&shrinking, size);

        if (size > 1)
            size /= 2;
        else if (!dropped)
            break;
    }
}
