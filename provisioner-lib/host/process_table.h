/* process_table.h - which programs run on this machine, or in this container: one look at /proc.
 *
 * Blocks: for a thread pool.
 */
#pragma once

#include "lib/base/err.h"

/* BUSY, with its process id, if a program of this name runs. `proc` is "/proc". */
struct err *process_table_check_none(const char *proc, const char *program)
    __attribute__((warn_unused_result));
