#include "test/azsim/model/latency.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/duration.h"

static const struct {
    const char *name;
    uint64_t least_ms, most_ms;
} kinds[] = {
#define LATENCY_ROW(kind, name, least, most, what) {name, least, most},
    LATENCY_KINDS(LATENCY_ROW)
#undef LATENCY_ROW
};

#define LATENCY_NAME(kind, name, least, most, what) " " name
static const char all_names[] = LATENCY_KINDS(LATENCY_NAME);

void latencies_init(struct latencies *latencies)
{
    for (int kind = 0; kind < LATENCY_KIND_COUNT; kind++) {
        latencies->of[kind].least_ms = kinds[kind].least_ms;
        latencies->of[kind].most_ms = kinds[kind].most_ms;
    }
}

uint64_t latency_draw(const struct latencies *latencies, enum latency_kind kind,
                      struct random *random)
{
    uint64_t least = latencies->of[kind].least_ms, most = latencies->of[kind].most_ms;

    return least == most ? least : least + random_below(random, most - least + 1);
}

static struct err *read_range(const char *text, uint64_t *ret_least, uint64_t *ret_most)
{
    const char *dash = strchr(text, '-');
    CLEANUP(freep) char *first = mem_strndup(text, dash ? (size_t)(dash - text) : strlen(text));
    uint64_t least, most;

    TRY(duration_parse(first, &least));
    most = least;
    if (dash)
        TRY(duration_parse(dash + 1, &most));
    if (most < least)
        return err_new(ERR_INVALID, "\"%s\": the first time of a range is the shorter one", text);
    *ret_least = least;
    *ret_most = most;
    return NULL;
}

struct err *latency_set(struct latencies *latencies, const char *name, const char *value)
{
    for (int kind = 0; kind < LATENCY_KIND_COUNT; kind++) {
        if (strcmp(kinds[kind].name, name) != 0)
            continue;
        struct err *err =
            read_range(value, &latencies->of[kind].least_ms, &latencies->of[kind].most_ms);
        return err ? err_wrap(err, "latency of %s", name) : NULL;
    }
    return err_new(ERR_INVALID, "\"%s\" is no kind of latency; there are%s", name, all_names);
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

json_t *latencies_json(const struct latencies *latencies)
{
    char least[DURATION_SIZE], most[DURATION_SIZE];
    json_t *json = json_object();

    for (int kind = 0; kind < LATENCY_KIND_COUNT; kind++) {
        duration_format(latencies->of[kind].least_ms, least);
        duration_format(latencies->of[kind].most_ms, most);
        bool range = latencies->of[kind].least_ms != latencies->of[kind].most_ms;
        json_object_set_new(json, kinds[kind].name,
                            range ? json_sprintf("%s-%s", least, most) : json_string(least));
    }
    return json;
}
