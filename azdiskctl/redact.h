/* redact.h - what is given to somebody who helps, without the secrets in it.
 *
 * Nobody says what in a log is a secret: it is found by how it looks, or by the name before it,
 * such as "password=". Rather too much is removed than too little. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define REDACTED "(removed)"

/* `text`, which may have any bytes, with REDACTED in place of each secret; free() it. What was cut
 * off at its beginning must have been cut off at the end of a line. */
char *redact_text(const char *text, size_t length, size_t *ret_length)
    __attribute__((warn_unused_result));

/* What has this name is a secret: "AADClientSecret", "--db_password", "tokens". */
bool redact_is_name(const char *name, size_t length);
