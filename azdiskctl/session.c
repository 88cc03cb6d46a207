#include "azdiskctl/session.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "provisioner-lib/azure/azure.h"

#define USER_AGENT "azdiskctl/" VERSION

enum { LARGEST_CONFIG = 256 * 1024 };

static struct err *load_config(const char *path, struct azure_config *ret)
{
    char *text = NULL;
    size_t length = 0;

    TRY(file_read(path, LARGEST_CONFIG, &text, &length));
    struct err *err = azure_config_parse(text, length, ret);
    explicit_bzero(text, length);
    free(text);
    return err;
}

static struct err *connect_cloud(struct session *session)
{
    const char *path = session->flags->cloud_config;

    if (!path[0])
        return NULL;
    struct err *err = load_config(path, &session->azure_config);
    if (err)
        return err_wrap(err, "--cloud-config %s", path);
    TRY(http_client_new(
        session->loop,
        &(struct http_client_config){.user_agent = USER_AGENT, .ca_file = getenv("SSL_CERT_FILE")},
        &session->cloud_http));
    TRY(http_client_new(session->loop,
                        &(struct http_client_config){.user_agent = USER_AGENT, .proxy = ""},
                        &session->metadata_http));
    session->cloud = azure_cloud_new(&session->background, &session->azure_config, NULL,
                                     http_client_transport(session->cloud_http),
                                     http_client_transport(session->metadata_http));
    return NULL;
}

static struct err *connect_cluster(struct session *session)
{
    const struct flags *flags = session->flags;
    const struct kube_overrides overrides = {.context = flags->context,
                                             .impersonation = {.user = flags->as,
                                                               .uid = flags->as_uid,
                                                               .groups = flags->as_groups.words,
                                                               .n_groups = flags->as_groups.n}};

    TRY(kube_connect(session->loop, flags->kubeconfig, &overrides, USER_AGENT,
                     &session->connection));
    session->namespace_ =
        flags->namespace_[0] ? flags->namespace_ : session->connection.config.namespace_;
    return NULL;
}

struct err *session_open(struct loop *loop, const struct flags *flags, struct session *ret)
{
    *ret = (struct session){.flags = flags, .loop = loop};
    group_init(&ret->background, loop);
    TRY(connect_cluster(ret));
    return connect_cloud(ret);
}

void session_close(struct task *self, struct session *session)
{
    group_close(self, &session->background);
    if (session->cloud)
        azure_cloud_free(session->cloud);
    http_client_free(session->cloud_http);
    http_client_free(session->metadata_http);
    azure_config_fini(&session->azure_config);
    kube_disconnect(&session->connection);
}
