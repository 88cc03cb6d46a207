#include "test/sim/incident.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/rt/random.h"

enum { HOUR_MS = 60 * 60 * 1000, ATTEMPTS = 100 };

static const struct incident_table *const tables[] = {
    &WORKLOAD_INCIDENTS,   &NODE_INCIDENTS,    &KUBELET_INCIDENTS,
    &CONTROLLER_INCIDENTS, &NETWORK_INCIDENTS, &AZURE_INCIDENTS,
    &REFUSAL_INCIDENTS,    &SILENCE_INCIDENTS, &VM_INCIDENTS,
};

const struct incident_kind *incident_kind_next(const struct incident_kind *previous)
{
    bool found = !previous;

    for (size_t i = 0; i < COUNT_OF(tables); i++)
        for (size_t j = 0; j < tables[i]->n; j++) {
            if (found)
                return &tables[i]->kinds[j];
            found = &tables[i]->kinds[j] == previous;
        }
    return NULL;
}

const struct incident_kind *incident_kind_find(const char *name)
{
    const struct incident_kind *kind = NULL;

    while ((kind = incident_kind_next(kind)))
        if (strcmp(kind->name, name) == 0)
            return kind;
    return NULL;
}

/* ---- drawing ---- */

struct drawn {
    struct incident *incidents;
    size_t n;
};

/* A stream of choices for each kind: what other kinds there are does not change it. */
static struct random stream_of(uint64_t seed, const char *kind)
{
    struct random random = {.state = seed};

    for (const char *c = kind; *c; c++)
        random.state = random_next(&random) ^ (unsigned char)*c;
    return random;
}

static double fraction(struct random *random)
{
    enum { STEPS = 1 << 24 };

    return ((double)random_below(random, STEPS) + 0.5) / STEPS;
}

/* A scenario leaves out some kinds and has more of others, so that not all are alike: what hides
 * when everything happens shows when little does. */
static double rate_in_scenario(struct random *random, double per_hour)
{
    static const double factors[] = {0, 0.3, 1, 1, 3};

    return per_hour * factors[random_below(random, COUNT_OF(factors))];
}

static void draw_kind(struct drawn *drawn, const struct profile *profile, uint64_t seed,
                      const struct incident_kind *kind, double per_hour)
{
    struct random random = stream_of(seed, kind->name);
    double rate = kind->bad ? rate_in_scenario(&random, per_hour) : per_hour;
    double at_ms = 0;

    if (rate <= 0)
        return;
    for (;;) {
        struct incident incident = {.kind = kind};

        at_ms += -log(fraction(&random)) / rate * HOUR_MS;
        if (at_ms >= (double)profile->length_ms)
            return;
        incident.at_ms = (uint64_t)at_ms;
        incident.choice = random_next(&random);
        incident.duration_ms =
            kind->least_ms + random_below(&random, kind->most_ms - kind->least_ms + 1);
        if (kind->bad && incident.at_ms + incident.duration_ms > profile->length_ms)
            incident.duration_ms = profile->length_ms - incident.at_ms;
        ARRAY_ADD(drawn->incidents, drawn->n) = incident;
    }
}

static int by_time(const void *left, const void *right)
{
    const struct incident *a = left, *b = right;

    if (a->at_ms != b->at_ms)
        return a->at_ms < b->at_ms ? -1 : 1;
    return strcmp(a->kind->name, b->kind->name);
}

/* By its own name, or by the beginning of it: "azure-*". */
static double rate_of(const struct profile *profile, const struct incident_kind *kind)
{
    double rate = 0;

    for (size_t i = 0; profile->rates[i].kind; i++) {
        const char *name = profile->rates[i].kind, *star = strchr(name, '*');

        if (strcmp(name, kind->name) == 0)
            return profile->rates[i].per_hour;
        if (star && strncmp(name, kind->name, (size_t)(star - name)) == 0)
            rate = profile->rates[i].per_hour;
    }
    return rate;
}

struct incident *scenario_draw(const struct profile *profile, uint64_t seed, size_t *ret_n)
{
    struct drawn drawn = {0};

    for (const struct incident_kind *kind = NULL; (kind = incident_kind_next(kind));)
        draw_kind(&drawn, profile, seed, kind, rate_of(profile, kind));
    if (drawn.n > 0)
        qsort(drawn.incidents, drawn.n, sizeof *drawn.incidents, by_time);
    *ret_n = drawn.n;
    return drawn.incidents;
}

void scenario_add(const struct profile *profile, uint64_t seed, const struct incident_kind *kind,
                  double per_hour, struct incident **incidents, size_t *n)
{
    struct drawn drawn = {0};

    for (size_t i = 0; i < *n; i++)
        if ((*incidents)[i].kind != kind)
            ARRAY_ADD(drawn.incidents, drawn.n) = (*incidents)[i];
    size_t kept = drawn.n;
    /* It is not to be left out, as rate_in_scenario would at times. */
    for (uint64_t other = seed; drawn.n == kept && other < seed + ATTEMPTS; other++)
        draw_kind(&drawn, profile, other, kind, per_hour);
    qsort(drawn.incidents, drawn.n, sizeof *drawn.incidents, by_time);
    free(*incidents);
    *incidents = drawn.incidents;
    *n = drawn.n;
}

/* ---- JSON ---- */

json_t *scenario_json(uint64_t seed, const struct incident *incidents, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:I, s:s, s:I, s:I}", "at_ms",
                                              (json_int_t)incidents[i].at_ms, "kind",
                                              incidents[i].kind->name, "duration_ms",
                                              (json_int_t)incidents[i].duration_ms, "choice",
                                              (json_int_t)incidents[i].choice));
    return json_pack("{s:I, s:o}", "seed", (json_int_t)seed, "incidents", list);
}

static struct err *incident_of_json(const json_t *json, struct incident *ret)
{
    const char *name = json_string_value(json_object_get(json, "kind"));

    ret->kind = name ? incident_kind_find(name) : NULL;
    if (!ret->kind)
        return err_new(ERR_INVALID, "there is no kind of incident \"%s\"", name ? name : "");
    ret->at_ms = (uint64_t)json_integer_value(json_object_get(json, "at_ms"));
    ret->duration_ms = (uint64_t)json_integer_value(json_object_get(json, "duration_ms"));
    ret->choice = (uint64_t)json_integer_value(json_object_get(json, "choice"));
    return NULL;
}

struct err *scenario_of_json(const json_t *json, uint64_t *ret_seed, struct incident **ret,
                             size_t *ret_n)
{
    const json_t *list = json_object_get(json, "incidents");
    CLEANUP(freep) struct incident *incidents = NULL;
    size_t n = json_array_size(list);

    if (!json_is_array(list))
        return err_new(ERR_INVALID, "it has no list of incidents");
    incidents = mem_alloc((n + 1) * sizeof *incidents);
    for (size_t i = 0; i < n; i++)
        TRY(incident_of_json(json_array_get(list, i), &incidents[i]));
    *ret_seed = (uint64_t)json_integer_value(json_object_get(json, "seed"));
    *ret_n = n;
    *ret = TAKE_PTR(incidents);
    return NULL;
}
