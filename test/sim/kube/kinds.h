/* kinds.h - the kinds of objects that the simulated API server knows, and how their rules differ.
 */
#pragma once

#include "lib/api/resources.h"

/* What only the world around the driver has; they have no message type. */
extern const struct api_resource STORAGE_CLASSES;

struct kind {
    const struct api_resource *resource;
    bool has_status;          /* as a subresource of its own */
    bool keeps_first_status;  /* what a create says of the status stays */
    const char *first_status; /* JSON, of a new object; NULL: none */
    bool status_has_metadata; /* labels, annotations and finalizers change by the status too */
    bool counts_generations;  /* metadata.generation */
    bool needs_version;       /* an update that takes resourceVersion away is refused */
    bool ends_slowly;         /* pods: a delete only announces the end, on a node */
    const char *fields[3];    /* for fieldSelector, beside metadata.name and .namespace */
};

enum { KIND_COUNT = 15 };
extern const struct kind kinds[KIND_COUNT];

/* The place of a kind in the table. Every resource that is asked for must be there. */
unsigned kind_index(const struct api_resource *resource);
/* The kind by what a path says; NULL if there is none. */
const struct kind *kind_find(const char *group, const char *version, const char *plural);
