/* age.h - how long something lasts already, and how large it is, as kubectl spells it. Pure.
 */
#pragma once

#include <stdint.h>

/* "45s", "3m10s", "5h", "3d4h", "2y"; "<invalid>" of a time to come, which is by another clock.
 * free() it. */
char *age_text(int64_t seconds) __attribute__((warn_unused_result));

/* "10Gi", "1536Mi": in the largest unit without a rest. free() it. */
char *size_text(int64_t bytes) __attribute__((warn_unused_result));
