/* steps.h - what a command that changes something does, step by step, as it does it.
 *
 * Each step is a line at once, with its time and the seconds since the command began: on stdout, or
 * on stderr where stdout is for JSON; and a member of the document.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "lib/rt/loop.h"

struct steps {
    struct loop *loop;
    FILE *out;
    uint64_t begun;
    json_t *list; /* of the document; referenced */
};

void steps_begin(struct steps *steps, struct loop *loop, FILE *out);
void steps_end(struct steps *steps);
void steps_say(struct steps *steps, const char *format, ...) __attribute__((format(printf, 2, 3)));
