/* exec_plugin.h - a program that says who we are to the API server: a client-go credential plug-in
 * (client.authentication.k8s.io), such as kubelogin. It is what the member `exec` of a kubeconfig's
 * user names.
 *
 * It is run as kubectl runs it: with this program's environment and that of the kubeconfig, with
 * KUBERNETES_EXEC_INFO, and with this program's standard input and error, so that it can ask the
 * person before the terminal, or say where to log in. Only tokens are taken from it, no client
 * certificates. Owned by the kube_config.
 */
#pragma once

#include <jansson.h>

#include "lib/base/err.h"
#include "lib/rt/task.h"

struct exec_plugin;

/* What a kubeconfig says of the server, for plug-ins that want to know (provideClusterInfo). */
struct exec_plugin_cluster {
    const json_t *entry;
    const char *ca_pem; /* NULL: the system's authorities */
};

/* `exec` is the user's, and `program` its command: a path, or a name to be looked for in PATH.
 * INVALID names the member. */
struct err *exec_plugin_load(const json_t *exec, const char *program,
                             struct exec_plugin_cluster cluster, struct exec_plugin **ret)
    __attribute__((warn_unused_result));
void exec_plugin_free(struct exec_plugin *plugin); /* NULL is fine */

struct exec_credential {
    char *token;        /* secret_free() it */
    int64_t expires_us; /* as timestamp.h; 0: it does not say */
};

/* Until it has ended, which may take a person minutes. DENIED, with its name and installHint, if it
 * cannot be started, fails, or prints no token. Yields; real loops only. */
struct err *exec_plugin_run(struct task *self, const struct exec_plugin *plugin,
                            struct exec_credential *ret) __attribute__((warn_unused_result));
