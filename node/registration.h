/* registration.h - how kubelet comes to know the plug-in: its plug-in registration service, v1.
 *
 * kubelet finds our socket in a folder that it watches, asks who we are, calls us by CSI, and says
 * how that went.
 */
#pragma once

#include "lib/rpc/server.h"
#include "node/node.h"

/* "unix:///registration/disk.csi.azure.com-reg.sock"; free() it. */
char *registration_endpoint(const char *folder, const char *driver_name)
    __attribute__((warn_unused_result));

/* A row for rpc_server_config.services. A registration that kubelet says has failed ends the
 * program: a new one registers anew, which is the only way to be asked again. */
struct rpc_service registration_service(struct node *node);
