/* region.h - names of a cloud's regions.
 *
 * People write "West Europe", where Azure says westeurope. Pure.
 */
#pragma once

#include <stdbool.h>

/* As the cloud says it; free() it. */
char *region_name(const char *text) __attribute__((warn_unused_result));
/* Whether both mean the same region. */
bool region_equal(const char *a, const char *b);
