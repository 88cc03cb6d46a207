/* output.h - the forms in which a command prints what it has found out.
 *
 * A command's document is data, which every command prints as JSON and as YAML. The other forms are
 * for people: each command has writers for those that make sense for it.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "lib/base/buffer.h"

enum output { OUTPUT_TEXT, OUTPUT_TABLE, OUTPUT_WIDE, OUTPUT_NAME, OUTPUT_JSON, OUTPUT_YAML };
enum { OUTPUTS = OUTPUT_YAML + 1 };

/* By enum output, NULL at the end. */
extern const char *const output_names[OUTPUTS + 1];

/* What is printed is all that stdout has: what else there is to say goes to stderr. */
bool output_is_data(enum output output);

struct output_writers {
    void (*of[OUTPUTS])(const json_t *document,
                        struct buffer *out); /* NULL: there is no such form */
};

bool output_is_offered(const struct output_writers *writers, enum output output);
/* "text, json, yaml"; free() it. */
char *outputs_offered(const struct output_writers *writers) __attribute__((warn_unused_result));

/* With a line break at its end, unless there is nothing to say; in a form that is offered. free()
 * it. */
char *output_text(const struct output_writers *writers, enum output output, const json_t *document)
    __attribute__((warn_unused_result));

/* A program that is started with a standard stream closed (`>&-`) would get the number of that for
 * what it opens first, and print into a connection. Whoever uses the stream gets an error instead.
 * Before anything is opened. */
void output_reserve(void);
/* Prints the text, behind what was printed before. UNAVAILABLE, with the reason, if not all of it
 * has been written. That its reader has left is no error: he has had enough. */
struct err *output_print(FILE *out, const char *text) __attribute__((warn_unused_result));
/* Its reader has left. */
bool output_is_closed(FILE *out);
