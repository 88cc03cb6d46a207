/* registration.h - how kubelet comes to know the plug-in: its plug-in registration service, v1.
 *
 * kubelet finds our socket in a folder that it watches, asks who we are, calls us by CSI, and says
 * how that went. If it did not go well, kubelet may not come again by itself: only a socket that
 * appears makes it ask. So ours disappears for a moment and appears again, ever less often, until
 * kubelet is content.
 */
#pragma once

#include "lib/rpc/server.h"
#include "lib/rt/group.h"
#include "node/node.h"

/* "unix:///registration/disk.csi.azure.com-reg.sock"; free() it. */
char *registration_endpoint(const char *folder, const char *driver_name)
    __attribute__((warn_unused_result));

/* A row for rpc_server_config.services. */
struct rpc_service registration_service(struct node *node);

/* Asks kubelet anew for as long as it refuses, as a member of the group. The socket is that of
 * registration_endpoint, which must be served. */
void registration_start(struct node *node, struct task_group *group, const char *endpoint);
