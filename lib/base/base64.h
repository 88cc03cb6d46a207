/* base64.h - bytes as text (RFC 4648, section 4), on one line.
 */
#pragma once

#include <stddef.h>

/* Of INT_MAX bytes at most. free() it. */
char *base64_encode(const void *data, size_t length) __attribute__((warn_unused_result));
