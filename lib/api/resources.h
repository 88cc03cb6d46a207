/* resources.h - where each kind of object lives in the Kubernetes API.
 */
#pragma once

#include <stdbool.h>

#include <protobuf-c/protobuf-c.h>

struct api_resource {
    const char *group; /* "" is the core group */
    const char *version;
    const char *plural; /* in paths */
    const char *kind;
    bool namespaced;
    const ProtobufCMessageDescriptor *type;
};

extern const struct api_resource NODES, PODS, NAMESPACES, PERSISTENT_VOLUMES,
    PERSISTENT_VOLUME_CLAIMS, SECRETS, LEASES, EVENTS, CSI_NODES, VOLUME_ATTACHMENTS, AZ_VOLUMES,
    AZ_VOLUME_ATTACHMENTS, AZ_SNAPSHOTS, AZ_DRIVER_NODES, VOLUME_SNAPSHOT_CONTENTS,
    MUTATING_WEBHOOK_CONFIGURATIONS;
