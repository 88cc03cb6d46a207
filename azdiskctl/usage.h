/* usage.h - the commands, as --help shows them. Pure.
 */
#pragma once

#include "azdiskctl/command.h"

/* free() it. */
char *usage_of_commands(const struct command *const *commands, size_t n)
    __attribute__((warn_unused_result));
