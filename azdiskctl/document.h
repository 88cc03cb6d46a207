/* document.h - what a command has found out, as JSON, for those who print it.
 */
#pragma once

#include <jansson.h>

/* A member's text; NULL if it has none. */
static inline const char *text_of(const json_t *json, const char *member)
{
    return json_string_value(json_object_get(json, member));
}
