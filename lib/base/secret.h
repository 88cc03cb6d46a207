/* secret.h - text that must not stay in memory after its use, nor get into a core dump before.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"

/* Clears the text, then frees it; NULL is fine. */
static inline void secret_free(char *secret)
{
    if (secret)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}
DEFINE_CLEANUP(char, secret_free)

/* The same for a block of malloc's of which nobody knows what is in it. */
void secret_free_block(void *memory);
DEFINE_CLEANUP(void, secret_free_block)

/* A copy for long, in memory that is left out of core dumps; secret_drop() it. NULL for NULL. For
 * few: each takes pages of its own. */
char *secret_keep(const char *text) __attribute__((warn_unused_result));
void secret_drop(char *kept);
