/* printable.h - what others have written, so that it can go to a person's terminal.
 *
 * Names, notes and errors come from the cluster: a control character in them could move the cursor,
 * forge lines or name a command of the terminal, and a mark of direction could turn text around.
 * They are shown as \n, \t, \x1b, \u202e. Pure.
 */
#pragma once

#include <jansson.h>

/* One line; what is not UTF-8 is shown as '?'. free() it. */
char *printable_text(const char *text) __attribute__((warn_unused_result));

/* A copy of which each text is printable, the names of members as well. */
json_t *printable_json(const json_t *document) __attribute__((warn_unused_result));
