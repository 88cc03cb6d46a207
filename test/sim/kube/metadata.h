/* metadata.h - what is common to all objects, and how it is read and written.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "test/sim/kube/kinds.h"
#include "test/sim/kube/version.h"

static inline json_t *metadata_of(const json_t *json)
{
    return json_object_get(json, "metadata");
}

/* A member's text; "" if it has none. */
static inline const char *text_of(const json_t *json, const char *member)
{
    const char *text = json_string_value(json_object_get(json, member));

    return text ? text : "";
}

/* "namespace/name", or "name" where the kind has no namespaces. */
void metadata_key(const struct kind *kind, const char *namespace_, const char *name,
                  char key[LONGEST_KEY]);
/* A copy of an object whose metadata is its own. */
json_t *metadata_copy_object(const json_t *json);
/* Lists and maps that are empty are not there. */
void metadata_drop_empty(json_t *metadata);
/* A point in time. */
json_t *metadata_time(int64_t us);
