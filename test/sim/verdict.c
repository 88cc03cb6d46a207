#include "test/sim/verdict.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/sim/sim.h"

void verdict_violated(struct sim *sim, const char *invariant, const char *loss, const char *format,
                      ...)
{
    struct verdict *verdict = sim->verdict;
    va_list args;

    if (verdict->invariant)
        return;
    verdict->invariant = mem_strdup(invariant);
    verdict->loss = mem_strdup(loss);
    va_start(args, format);
    verdict->what = mem_vprintf(format, args);
    va_end(args);
    verdict->at_ms = loop_now(sim->loop);
    sim_note(sim, "VIOLATED %s: %s", invariant, verdict->what);
}

bool verdict_is_good(const struct verdict *verdict)
{
    return !verdict->invariant;
}

void verdict_fini(struct verdict *verdict)
{
    free(verdict->invariant);
    free(verdict->loss);
    free(verdict->what);
    free(verdict->notes);
    *verdict = (struct verdict){0};
}

json_t *verdict_json(const struct verdict *verdict)
{
    return json_pack("{s:s?, s:s?, s:s?, s:I, s:I, s:s?}", "invariant", verdict->invariant, "loss",
                     verdict->loss, "what", verdict->what, "at_ms", (json_int_t)verdict->at_ms,
                     "step", (json_int_t)verdict->step, "notes", verdict->notes);
}

static char *text_of(const json_t *json, const char *name)
{
    return mem_strdup(json_string_value(json_object_get(json, name)));
}

void verdict_of_json(struct verdict *verdict, const json_t *json)
{
    verdict_fini(verdict);
    verdict->invariant = text_of(json, "invariant");
    verdict->loss = text_of(json, "loss");
    verdict->what = text_of(json, "what");
    verdict->notes = text_of(json, "notes");
    verdict->at_ms = (uint64_t)json_integer_value(json_object_get(json, "at_ms"));
    verdict->step = (uint64_t)json_integer_value(json_object_get(json, "step"));
}
