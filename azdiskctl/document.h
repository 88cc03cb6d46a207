/* document.h - what a command has found out, as JSON, for those who print it.
 */
#pragma once

#include <jansson.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/utf8.h"

/* A member's text; NULL if it has none. */
static inline const char *text_of(const json_t *json, const char *member)
{
    return json_string_value(json_object_get(json, member));
}

/* A name as a person has typed it, with '?' for what is not UTF-8. */
static inline json_t *typed_name(const char *name)
{
    CLEANUP(freep) char *copy = mem_strdup(name);

    utf8_repair(copy);
    return json_string(copy);
}
