/* session.h - one run of azdiskctl: its connections to the cluster and, where asked for, to Azure.
 */
#pragma once

#include "azdiskctl/flags.h"
#include "lib/http/client.h"
#include "lib/kube/connection.h"
#include "lib/rt/group.h"
#include "provisioner-lib/azure/config.h"
#include "provisioner-lib/cloud.h"

struct session {
    const struct flags *flags;
    struct loop *loop;
    struct task_group background;
    struct kube_connection connection;
    const char *namespace_; /* of claims and pods: that of the flags, or else of the context */
    struct azure_config azure_config;
    struct http_client *cloud_http, *metadata_http;
    struct cloud *cloud; /* NULL: Azure is not looked at */
};

/* On a large stack; nothing is sent yet. Call session_close whatever comes of it. */
struct err *session_open(struct loop *loop, const struct flags *flags, struct session *ret)
    __attribute__((warn_unused_result));
void session_close(struct task *self, struct session *session);
