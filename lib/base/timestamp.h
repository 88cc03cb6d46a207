/* timestamp.h - points in time as Kubernetes and Azure write them (RFC 3339).
 *
 * A time is a count of microseconds since 1970 in UTC. Any thread.
 */
#pragma once

#include <stdint.h>

#include "lib/base/err.h"

enum { TIMESTAMP_SIZE = 32 }; /* of the text, its NUL included */

/* "2026-11-21T08:51:00Z", as metav1.Time. */
void timestamp_format(int64_t us, char text[TIMESTAMP_SIZE]);
/* "2026-11-21T08:51:00.000123Z", as metav1.MicroTime. */
void timestamp_format_micro(int64_t us, char text[TIMESTAMP_SIZE]);

/* Reads up to 9 fraction digits, of which 6 count, and "Z" or an offset such as "+00:00". */
struct err *timestamp_parse(const char *text, int64_t *ret_us) __attribute__((warn_unused_result));
/* The same of a time that somebody else has noted, or not: 0 if `text` is NULL or cannot be read.
 */
int64_t timestamp_noted(const char *text);
