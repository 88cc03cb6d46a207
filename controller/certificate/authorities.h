/* authorities.h - which authorities the API server trusts for the webhook: a bundle in PEM.
 *
 * Two at most: that of the certificate in use and, while there is another on its way, the other's.
 * Else the one that has preceded stays until it expires or is replaced, for an extender that has
 * not read the new certificate yet still shows the old one. The calls need a large stack
 * (loop_call). Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { MOST_AUTHORITIES = 2 };

/* What the bundle ought to be; `bundle` is what it is, and may be anything. `next` NULL: none is on
 * its way. free() it. */
char *authorities_wanted(const char *bundle, const char *current, const char *next, int64_t now_us)
    __attribute__((warn_unused_result));

/* The same authorities, in whatever order and form, each once; and nothing else that can be read.
 */
bool authorities_are(const char *bundle, const char *wanted);
