#include "test/sim/coverage.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/alloc.h"

static json_t *counts; /* NULL: nothing yet */

static void add(const char *situation, json_int_t n)
{
    json_t *count;

    if (!counts)
        counts = json_object();
    count = json_object_get(counts, situation);
    if (count)
        json_integer_set(count, json_integer_value(count) + n);
    else
        json_object_set_new(counts, situation, json_integer(n));
}

void coverage_count(const char *what, const char *state, const char *event)
{
    char situation[160];

    snprintf(situation, sizeof situation, "%s %s %s", what, state[0] ? state : "-", event);
    add(situation, 1);
}

json_t *coverage_json(void)
{
    return counts ? json_incref(counts) : json_object();
}

void coverage_add(json_t *more)
{
    const char *situation;
    const json_t *count;

    json_object_foreach(more, situation, count)
        add(situation, json_integer_value(count));
}

void coverage_forget(void)
{
    json_decref(counts);
    counts = NULL;
}
