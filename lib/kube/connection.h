/* connection.h - a client of the real API server, with all that it stands on.
 */
#pragma once

#include "lib/http/client.h"
#include "lib/kube/client.h"

struct kube_connection {
    struct kube_config config;
    struct http_client *http;
    struct kube *kube;
};

/* `kubeconfig` and `overrides` as for kube_config_load; nothing is sent yet. */
struct err *kube_connect(struct loop *loop, const char *kubeconfig,
                         const struct kube_overrides *overrides, const char *user_agent,
                         struct kube_connection *ret) __attribute__((warn_unused_result));
void kube_disconnect(struct kube_connection *connection);
