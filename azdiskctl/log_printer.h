/* log_printer.h - lines of logs, each printed as it comes.
 *
 * As text they are in columns, as wide as the names of the containers that are known by then; as
 * JSON, an object on a line each; as YAML, a document each.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "azdiskctl/output.h"
#include "lib/base/err.h"

struct log_printer {
    FILE *out;
    enum output output; /* text, JSON or YAML */
    int pod, container; /* widths of the columns */
    int error;          /* why nothing more can be written; 0: it can */
};

/* Makes room for the names of one that log_source.h describes. */
void log_printer_widen(struct log_printer *printer, const json_t *source);
/* A line of log_line.h as it is printed; free() it. */
char *log_printer_text(const struct log_printer *printer, const json_t *line)
    __attribute__((warn_unused_result));
/* All of them, at once. */
void log_printer_print(struct log_printer *printer, const json_t *lines);

/* Nothing more can be written; looks also whether who reads a pipe has gone. */
bool log_printer_is_closed(struct log_printer *printer);
/* Why not; NULL if it can, or if who has read it has had enough. */
struct err *log_printer_error(const struct log_printer *printer)
    __attribute__((warn_unused_result));
