/* parse.h - JSON text to jansson values and back. Values are the caller's (json_decref).
 */
#pragma once

#include <jansson.h>

#include "lib/base/err.h"
#include "lib/rt/task.h"

enum { JSON_MAX_DEPTH = 64 }; /* values are freed by recursion, on a task's small stack too */

/* INVALID with line and column, or if it is nested too deeply. The parser recurses with the
 * document's depth, so for a deep one it runs on the loop's stack and the call yields. */
struct err *json_parse(struct task *self, const char *text, size_t length, json_t **ret_json)
    __attribute__((warn_unused_result));

/* The same for whoever is on a large stack already. */
struct err *json_parse_here(const char *text, size_t length, json_t **ret_json)
    __attribute__((warn_unused_result));

/* As json_parse(), but members of one name are no error: the last one counts. */
struct err *json_parse_last(struct task *self, const char *text, size_t length, json_t **ret_json)
    __attribute__((warn_unused_result));

/* From now on what JSON has in memory is cleared when it is freed; for programs whose documents
 * hold secrets. */
void json_clear_freed(void);

/* One line, no spaces; free() it. */
char *json_to_text(const json_t *json) __attribute__((warn_unused_result));
