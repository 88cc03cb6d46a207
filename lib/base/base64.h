/* base64.h - bytes as text (RFC 4648, section 4), on one line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Of INT_MAX bytes at most. free() it. */
char *base64_encode(const void *data, size_t length) __attribute__((warn_unused_result));
/* The bytes, and a NUL behind them that is not counted; free() them. False if the text is none of
 * the above, or longer than INT_MAX. */
bool base64_decode(const char *text, char **ret_data, size_t *ret_length)
    __attribute__((warn_unused_result));
