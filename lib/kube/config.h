/* config.h - where the API server is and who we are to it.
 *
 * From kubeconfig files, or from what kubelet puts into every pod. Owned by the caller. Of all
 * credentials only a token from a file or a plug-in is had anew while a program runs
 * (bearer_token.h); certificates are read once.
 */
#pragma once

#include "lib/base/err.h"
#include "lib/kube/exec_plugin.h"
#include "lib/kube/impersonation.h"

struct kube_config {
    char *server;                    /* "https://10.96.0.1:443", no slash at the end */
    char *ca_pem;                    /* NULL: the system's authorities */
    char *certificate_pem, *key_pem; /* NULL: none */
    char *token;                     /* NULL: none */
    char *token_file; /* where the token is from; read from time to time, as kubelet renews it */
    struct exec_plugin *plugin;         /* where it is from otherwise; NULL: none */
    char *proxy;                        /* URL; NULL: as the environment says; "": none */
    char *namespace_;                   /* "default" unless the source says otherwise */
    struct impersonation impersonation; /* none: we are who the credentials say */
};

/* What a person says beside the kubeconfig, which wins over it. */
struct kube_overrides {
    const char *context; /* NULL or "": the current one */
    struct impersonation_choice impersonation;
};

/* `paths` are kubeconfig files as for kubeconfig_files.h; "" or NULL stands for the pod's own
 * account. `overrides` may be NULL: none. The message names the file, the member and what is
 * wrong. */
struct err *kube_config_load(const char *paths, const struct kube_overrides *overrides,
                             struct kube_config *ret) __attribute__((warn_unused_result));
/* The account whose files are in `directory`, at the server that the environment names. */
struct err *kube_config_load_account(const char *directory, struct kube_config *ret)
    __attribute__((warn_unused_result));
void kube_config_fini(struct kube_config *config);
