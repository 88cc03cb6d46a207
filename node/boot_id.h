/* boot_id.h - which run of this machine's kernel this is.
 */
#pragma once

#include "lib/base/err.h"

/* free() it. */
struct err *boot_id_read(char **ret) __attribute__((warn_unused_result));
