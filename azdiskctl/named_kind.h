/* named_kind.h - a kind of objects that the command line names, by one of several words.
 */
#pragma once

#include "lib/api/resources.h"

struct named_kind {
    const char *const *words; /* NULL at the end; messages use the first one */
    const struct api_resource *resource;
    const char *role; /* of attachments: those of this role only; NULL: all */
};

/* The kind at this place of a table; false if there are no more. */
typedef bool named_kind_fn(size_t i, struct named_kind *ret);
