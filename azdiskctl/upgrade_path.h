/* upgrade_path.h - which version of the chart may follow which: one minor version after the other,
 * and none back, for what one renames, the next does not know by its old name any more. Pure.
 */
#pragma once

#include <stdbool.h>

/* Versions are as "0.1.0" or "v0.1.0-rc.1"; of what is none, and of NULL, nothing is said. Where it
 * is false: what is wrong, and what to do; free() both. */
bool upgrade_path_is_open(const char *is, const char *wanted, char **ret_wrong, char **ret_todo);
