/* csi_identity.h - CSI's Identity service, the same for every program that serves CSI.
 *
 * The program says who it is and what it can do as data. Loop's thread.
 */
#pragma once

#include <stdbool.h>

#include "lib/api/csi.pb-c.h"
#include "lib/rpc/server.h"

/* A row of GetPluginCapabilities: CSI_SERVICE(CONTROLLER_SERVICE), CSI_EXPANSION(ONLINE). */
struct csi_capability {
    Csi__V1__PluginCapability__TypeCase of;
    int type; /* of the enumeration that `of` selects */
};

#define CSI_SERVICE(type)                                                                          \
    {                                                                                              \
        CSI__V1__PLUGIN_CAPABILITY__TYPE_SERVICE,                                                  \
            CSI__V1__PLUGIN_CAPABILITY__SERVICE__TYPE__##type                                      \
    }
#define CSI_EXPANSION(type)                                                                        \
    {                                                                                              \
        CSI__V1__PLUGIN_CAPABILITY__TYPE_VOLUME_EXPANSION,                                         \
            CSI__V1__PLUGIN_CAPABILITY__VOLUME_EXPANSION__TYPE__##type                             \
    }

struct csi_identity {
    const char *driver_name; /* "disk.csi.azure.com" */
    const struct csi_capability *capabilities;
    size_t n_capabilities;

    /* For Probe: whether the program can serve now. */
    bool (*is_ready)(void *ctx);
    void *ctx;
};

/* A row for rpc_server_config.services; `identity` has to live as long as the server. */
struct rpc_service csi_identity_service(struct csi_identity *identity);
