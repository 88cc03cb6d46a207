/* secret.h - text that must not stay in memory after its use.
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
