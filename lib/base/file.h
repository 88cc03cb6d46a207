/* file.h - whole small files, and their text.
 */
#pragma once

#include <stddef.h>

#include "lib/base/err.h"

/* The content, ending in a NUL that is not counted. NOT_FOUND, DENIED, EXHAUSTED if it is larger
 * than `limit`, else INTERNAL; the message names the file. */
struct err *file_read(const char *path, size_t limit, char **ret_text, size_t *ret_length)
    __attribute__((warn_unused_result));
