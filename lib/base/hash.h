/* hash.h - hash tables: uthash, with this project's settings.
 *
 * A struct that lives in a table has a member `UT_hash_handle hh`; tables iterate in order of
 * insertion, so that runs repeat. Wrap the HASH_ macros in typed functions of the owning module.
 */
#pragma once

#include <stdlib.h>

#define uthash_fatal(message) abort()
#include <uthash.h>

/* The current item may be removed and freed in the body. */
#define HASH_FOREACH(head, item)                                                                   \
    for (__typeof__((head) + 0) item = (head), next_##item = item ? item->hh.next : NULL; item;    \
         item = next_##item, next_##item = item ? item->hh.next : NULL)
