#include "test/azsim/model/latency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/base/duration.h"

/* Where the normal distribution has its percentiles. */
static const double Z95 = 1.644854, Z99 = 2.326348, Z999 = 3.090232;

static const struct {
    const char *name, *text;
} kinds[] = {
#define LATENCY_ROW(kind, name, text, what) {name, text},
    LATENCY_KINDS(LATENCY_ROW)
#undef LATENCY_ROW
};

#define LATENCY_NAME(kind, name, text, what) " " name
static const char all_names[] = LATENCY_KINDS(LATENCY_NAME);

void latencies_init(struct latencies *latencies)
{
    latencies->time_factor = 1;
    for (int kind = 0; kind < LATENCY_KIND_COUNT; kind++)
        if (latency_set(latencies, kinds[kind].name, kinds[kind].text))
            abort();
}

/* ---- drawing ---- */

/* 0 to 1, neither of them. */
static double draw_fraction(struct random *random)
{
    return ((double)(random_next(random) >> 11) + 0.5) / 9007199254740992.0; /* 2^53 */
}

/* From the standard normal distribution (Box and Muller). */
static double draw_normal(struct random *random)
{
    double radius = sqrt(-2 * log(draw_fraction(random)));

    return radius * cos(2 * M_PI * draw_fraction(random));
}

static double draw_spread(const uint64_t ms[3], struct random *random)
{
    double median = (double)ms[0], p95 = (double)ms[1], p99 = (double)ms[2];
    double z = draw_normal(random);

    z = z > Z999 ? Z999 : z < -Z999 ? -Z999 : z;
    return z <= Z95 ? median * pow(p95 / median, z / Z95)
                    : p95 * pow(p99 / p95, (z - Z95) / (Z99 - Z95));
}

uint64_t latency_draw(const struct latencies *latencies, enum latency_kind kind,
                      struct random *random)
{
    const struct latency *latency = &latencies->of[kind];
    double ms = (double)latency->ms[0];

    if (latency->n == 2)
        ms += (double)random_below(random, latency->ms[1] - latency->ms[0] + 1);
    else if (latency->n == 3)
        ms = draw_spread(latency->ms, random);
    return (uint64_t)(ms * latencies->time_factor + 0.5);
}

/* ---- reading ---- */

static struct err *check(const struct latency *latency, const char *text)
{
    for (unsigned i = 1; i < latency->n; i++)
        if (latency->ms[i] < latency->ms[i - 1])
            return err_new(ERR_INVALID, "\"%s\": times must be in ascending order", text);
    if (latency->n == 3 && latency->ms[0] == 0)
        return err_new(ERR_INVALID, "\"%s\": the median must be more than 0", text);
    return NULL;
}

static struct err *read_latency(const char *text, struct latency *ret)
{
    const char *separator = strchr(text, '/') ? "/" : "-";
    unsigned wanted = strchr(text, '/') ? 3 : strchr(text, '-') ? 2 : 1;
    CLEANUP(freep) char *copy = mem_strdup(text);
    struct latency latency = {0};
    char *rest = copy, *part;

    while ((part = strsep(&rest, separator))) {
        if (latency.n == wanted)
            break;
        TRY(duration_parse(part, &latency.ms[latency.n++]));
    }
    if (part || latency.n != wanted)
        return err_new(
            ERR_INVALID,
            "\"%s\": expected a time, the ends of a range such as 4s-6s, or median, 95th "
            "and 99th percentile such as 10s/30s/90s",
            text);
    TRY(check(&latency, text));
    *ret = latency;
    return NULL;
}

struct err *latency_set(struct latencies *latencies, const char *name, const char *value)
{
    for (int kind = 0; kind < LATENCY_KIND_COUNT; kind++) {
        if (strcmp(kinds[kind].name, name) != 0)
            continue;
        struct err *err = read_latency(value, &latencies->of[kind]);
        return err ? err_wrap(err, "latency of %s", name) : NULL;
    }
    return err_new(ERR_INVALID, "\"%s\" is not a kind of latency; it must be one of%s", name,
                   all_names);
}

struct err *latencies_set(struct latencies *latencies, const char *list)
{
    CLEANUP(freep) char *copy = mem_strdup(list);
    struct latencies changed = *latencies;
    char *position = NULL;

    for (char *item = strtok_r(copy, ",", &position); item; item = strtok_r(NULL, ",", &position)) {
        char *equals = strchr(item, '=');

        if (!equals)
            return err_new(ERR_INVALID, "\"%s\": expected kind=time, such as attach=30s", item);
        *equals = '\0';
        TRY(latency_set(&changed, item, equals + 1));
    }
    *latencies = changed;
    return NULL;
}

struct err *latencies_set_time_factor(struct latencies *latencies, const char *text)
{
    char *end;
    double factor = strtod(text, &end);

    if (end == text || *end || !(factor >= 0.001 && factor <= 1000))
        return err_new(ERR_INVALID, "\"%s\" is not a number from 0.001 to 1000", text);
    latencies->time_factor = factor;
    return NULL;
}

/* ---- writing ---- */

static json_t *latency_json(const struct latency *latency)
{
    struct buffer text = {.limit = 3 * DURATION_SIZE};
    char part[DURATION_SIZE];

    for (unsigned i = 0; i < latency->n; i++) {
        duration_format(latency->ms[i], part);
        buffer_printf(&text, "%s%s", i == 0 ? "" : latency->n == 2 ? "-" : "/", part);
    }
    json_t *json = json_string(text.data);
    buffer_fini(&text);
    return json;
}

json_t *latencies_json(const struct latencies *latencies)
{
    json_t *json = json_object();

    for (int kind = 0; kind < LATENCY_KIND_COUNT; kind++)
        json_object_set_new(json, kinds[kind].name, latency_json(&latencies->of[kind]));
    return json;
}
