#include "lib/kube/connection.h"

enum { MAX_CONNECTIONS = 32 }; /* of calls at once; watches have their own */

struct err *kube_connect(struct loop *loop, const char *kubeconfig,
                         const struct kube_overrides *overrides, const char *user_agent,
                         struct kube_connection *ret)
{
    CLEANUP(kube_config_fini) struct kube_config config = {0};

    TRY(kube_config_load(kubeconfig, overrides, &config));
    struct err *err = http_client_new(loop,
                                      &(struct http_client_config){
                                          .user_agent = user_agent,
                                          .ca_pem = config.ca_pem,
                                          .certificate_pem = config.certificate_pem,
                                          .key_pem = config.key_pem,
                                          .proxy = config.proxy,
                                          .max_connections = MAX_CONNECTIONS,
                                      },
                                      &ret->http);
    if (err)
        return kubeconfig && kubeconfig[0] ? err_wrap(err, "kubeconfig %s", kubeconfig)
                                           : err_wrap(err, "the pod's service account");
    ret->kube = kube_new(loop, http_client_transport(ret->http), &config);
    ret->config = config;
    config = (struct kube_config){0};
    return NULL;
}

void kube_disconnect(struct kube_connection *connection)
{
    kube_free(connection->kube);
    http_client_free(connection->http);
    kube_config_fini(&connection->config);
    *connection = (struct kube_connection){0};
}
