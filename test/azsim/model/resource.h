/* resource.h - what disks and virtual machines have in common as resources of ARM.
 *
 * A resource has an id, whose case is kept as it was given and does not matter in comparisons; so
 * tables are keyed by the id in lower case. What a client sent is kept as JSON (a "body"), so that
 * nothing of it is lost, and changed by merging.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/cleanup.h"

enum provisioning {
    PROVISIONING_CREATING,
    PROVISIONING_UPDATING,
    PROVISIONING_DELETING,
    PROVISIONING_SUCCEEDED,
    PROVISIONING_FAILED,
};

const char *provisioning_name(enum provisioning provisioning);
bool provisioning_from_name(const char *name, enum provisioning *ret);

/* "/subscriptions/S/resourceGroups/G/providers/Microsoft.Compute/TYPE/NAME" */
char *resource_id(const char *subscription, const char *group, const char *type, const char *name)
    __attribute__((warn_unused_result));
/* The key of the tables for an id: lower case, without a trailing slash. */
char *resource_key(const char *id) __attribute__((warn_unused_result));

/* The parts of an id of a resource of Microsoft.Compute; false if it is none, with nothing to free.
 */
struct resource_parts {
    char *subscription, *group, *type, *name;
};
bool resource_parts_read(struct resource_parts *parts, const char *id);
void resource_parts_fini(struct resource_parts *parts);

/* Whether a name follows Compute's rule for names. */
bool resource_name_is_valid(const char *name);

/* Puts what `change` says into `body`: objects are merged, tags are replaced, a null changes
 * nothing. */
void resource_merge(json_t *body, const json_t *change);
/* Removes the members that only Azure sets, by paths such as "properties.diskState". */
void resource_strip(json_t *body, const char *const paths[]);
/* The member at a path of names; NULL if there is none or it is null. */
json_t *resource_get(const json_t *body, const char *path);
/* The text at a path; `fallback` if there is none. */
const char *resource_text(const json_t *body, const char *path, const char *fallback);
