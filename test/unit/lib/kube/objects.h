/* objects.h - objects of the API server as tests make them.
 */
#pragma once

#include "test/unit/object.h"

/* A Node with a name, a version, and its provider id, by which tests tell states apart. */
struct kube_object *node_of(const char *name, uint64_t version, const char *provider_id);
