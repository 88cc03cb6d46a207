#include "test/sim/kube/kinds.h"

#include <stdlib.h>
#include <string.h>

#define STORAGE "storage.k8s.io", "v1"
#define PENDING "{\"phase\":\"Pending\"}"

const struct api_resource STORAGE_CLASSES = {STORAGE, "storageclasses", "StorageClass", false,
                                             NULL};

#define CUSTOM(resource_)                                                                          \
    {                                                                                              \
        .resource = &(resource_), .has_status = true, .counts_generations = true,                  \
        .needs_version = true                                                                      \
    }

/* The most asked for come first. */
const struct kind kinds[KIND_COUNT] = {
    {.resource = &LEASES, .needs_version = true},
    CUSTOM(AZ_DRIVER_NODES),
    CUSTOM(AZ_VOLUME_ATTACHMENTS),
    CUSTOM(AZ_VOLUMES),
    CUSTOM(AZ_SNAPSHOTS),
    {.resource = &NODES,
     .has_status = true,
     .keeps_first_status = true,
     .status_has_metadata = true},
    {.resource = &PODS,
     .has_status = true,
     .first_status = PENDING,
     .status_has_metadata = true,
     .counts_generations = true,
     .ends_slowly = true,
     .fields = {"spec.nodeName", "status.phase"}},
    {.resource = &PERSISTENT_VOLUMES,
     .has_status = true,
     .first_status = PENDING,
     .status_has_metadata = true},
    {.resource = &PERSISTENT_VOLUME_CLAIMS,
     .has_status = true,
     .first_status = PENDING,
     .status_has_metadata = true},
    {.resource = &VOLUME_ATTACHMENTS,
     .has_status = true,
     .first_status = "{\"attached\":false}",
     .needs_version = true},
    {.resource = &EVENTS},
    {.resource = &SECRETS, .fields = {"type"}},
    {.resource = &STORAGE_CLASSES, .needs_version = true},
    {.resource = &CSI_NODES, .needs_version = true},
    {.resource = &NAMESPACES, .has_status = true, .keeps_first_status = true},
};

unsigned kind_index(const struct api_resource *resource)
{
    for (unsigned i = 0; i < KIND_COUNT; i++)
        if (kinds[i].resource == resource)
            return i;
    abort();
}

const struct kind *kind_find(const char *group, const char *version, const char *plural)
{
    for (unsigned i = 0; i < KIND_COUNT; i++) {
        const struct api_resource *resource = kinds[i].resource;

        if (strcmp(resource->plural, plural) == 0 && strcmp(resource->group, group) == 0 &&
            strcmp(resource->version, version) == 0)
            return &kinds[i];
    }
    return NULL;
}
