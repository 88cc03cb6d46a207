/* objects.h - objects of the API server as tests make them.
 */
#pragma once

#include "lib/kube/object.h"

/* From JSON with ' for "; the caller's reference. */
struct kube_object *object_from(const ProtobufCMessageDescriptor *type, const char *json);
/* A Node with a name, a version, and its provider id, by which tests tell states apart. */
struct kube_object *node_of(const char *name, uint64_t version, const char *provider_id);
