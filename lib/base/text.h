/* text.h - texts that may be missing: Kubernetes' objects leave out what is empty.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

/* NULL and "" are the same. */
static inline bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}
