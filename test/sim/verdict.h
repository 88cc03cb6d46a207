/* verdict.h - what became of a run: whether all held, and what did not.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct sim;

struct verdict {
    char *invariant; /* "I1 one primary"; NULL: all held */
    char *loss;      /* what a user would have lost */
    char *what;      /* which volume, which node, and what is true of them */
    uint64_t at_ms;  /* since the beginning */
    uint64_t step;   /* of the clockwork */
    char *notes;     /* the last lines of the trace; sim.c adds them */
};

/* The first violation is kept: what follows may be its consequence. */
void verdict_violated(struct sim *sim, const char *invariant, const char *loss, const char *format,
                      ...) __attribute__((format(printf, 4, 5)));
bool verdict_is_good(const struct verdict *verdict);
void verdict_fini(struct verdict *verdict);
/* Takes over what JSON says of a verdict, as verdict_json has written it; and the reverse. */
json_t *verdict_json(const struct verdict *verdict);
void verdict_of_json(struct verdict *verdict, const json_t *json);
