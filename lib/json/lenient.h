/* lenient.h - what a server answers with objects of others in it: one number or text in one of them
 * must not keep all others from us. For the clients of the API server.
 */
#pragma once

#include <jansson.h>

#include "lib/base/err.h"
#include "lib/rt/task.h"

/* As json_parse(). If the text is refused as it is, it is read once more, in which it is changed:
 * an integer that has too many digits is a real number, what is nested too deeply is left out, and
 * of members of one name the last one counts. */
struct err *json_parse_leniently(struct task *self, char *text, size_t length, json_t **ret_json)
    __attribute__((warn_unused_result));
