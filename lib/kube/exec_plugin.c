#include "lib/kube/exec_plugin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/base64.h"
#include "lib/base/buffer.h"
#include "lib/base/secret.h"
#include "lib/base/text.h"
#include "lib/base/timestamp.h"
#include "lib/json/parse.h"
#include "lib/rt/subprocess.h"

#define INFO "KUBERNETES_EXEC_INFO"
#define EXTENSION "client.authentication.k8s.io/exec"

enum {
    MOST_WORDS = 256,               /* arguments, and variables */
    LARGEST_CREDENTIAL = 64 * 1024, /* bytes; a token with many groups has 10,000 */
    LOGIN_MS = 15 * 60 * 1000,      /* Entra ID lets a person enter a device code for as long */
};

enum interactive { NEVER, IF_AVAILABLE, ALWAYS };

static const char *const api_versions[] = {"client.authentication.k8s.io/v1",
                                           "client.authentication.k8s.io/v1beta1"};
static const char *const interactive_modes[] = {
    [NEVER] = "Never", [IF_AVAILABLE] = "IfAvailable", [ALWAYS] = "Always"};

struct exec_plugin {
    char *api_version, *install_hint;
    char **argv, **variables; /* "NAME=VALUE"; both end in NULL */
    enum interactive interactive;
    json_t *cluster; /* NULL: it does not want to know */
};

/* ---- what the kubeconfig says ---- */

static void free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

void exec_plugin_free(struct exec_plugin *plugin)
{
    if (!plugin)
        return;
    free(plugin->api_version);
    free(plugin->install_hint);
    free_words(plugin->argv);
    free_words(plugin->variables);
    json_decref(plugin->cluster);
    free(plugin);
}
DEFINE_CLEANUP(struct exec_plugin, exec_plugin_free)

static struct err *choose(const json_t *exec, const char *member, const char *const names[],
                          size_t n, size_t *ret)
{
    const json_t *value = json_object_get(exec, member);

    for (size_t i = 0; i < n; i++) {
        if (!same_text(json_string_value(value), names[i]))
            continue;
        *ret = i;
        return NULL;
    }
    CLEANUP(buffer_fini) struct buffer known;
    buffer_init(&known, LARGEST_CREDENTIAL);
    for (size_t i = 0; i < n; i++)
        buffer_printf(&known, "%s%s", i ? i + 1 < n ? ", " : " or " : "", names[i]);
    return err_new(ERR_INVALID, "exec.%s is not %s", member, known.data);
}

/* The list `member`, whose entries word_of() makes into words after the first `n_first`. */
static struct err *words_of(const json_t *exec, const char *member, size_t n_first,
                            char *(*word_of)(const json_t *entry), char ***ret)
{
    const json_t *list = json_object_get(exec, member);
    size_t n = json_array_size(list);

    if ((list && !json_is_null(list) && !json_is_array(list)) || n > MOST_WORDS)
        return err_new(ERR_INVALID, "exec.%s is not a list of at most %d", member, MOST_WORDS);
    char **words = mem_alloc((n_first + n + 1) * sizeof *words);
    for (size_t i = 0; i < n; i++) {
        words[n_first + i] = word_of(json_array_get(list, i));
        if (words[n_first + i])
            continue;
        for (size_t j = 0; j < i; j++)
            free(words[n_first + j]);
        free(words);
        return err_new(ERR_INVALID, "exec.%s[%zu] is not a string, or not a name and a value",
                       member, i);
    }
    *ret = words;
    return NULL;
}

static char *argument_of(const json_t *entry)
{
    return mem_strdup(json_string_value(entry));
}

static char *variable_of(const json_t *entry)
{
    const char *name = json_string_value(json_object_get(entry, "name"));
    const char *value = json_string_value(json_object_get(entry, "value"));

    return name && *name && !strchr(name, '=') && value ? mem_printf("%s=%s", name, value) : NULL;
}

/* What the cluster's administrator has put there for the plug-in. */
static json_t *extension_of(const json_t *cluster)
{
    const json_t *extensions = json_object_get(cluster, "extensions");

    for (size_t i = 0; i < json_array_size(extensions); i++) {
        const json_t *entry = json_array_get(extensions, i);

        if (same_text(json_string_value(json_object_get(entry, "name")), EXTENSION))
            return json_object_get(entry, "extension");
    }
    return NULL;
}

static json_t *cluster_json(struct exec_plugin_cluster cluster)
{
    CLEANUP(freep)
    char *authority = cluster.ca_pem ? base64_encode(cluster.ca_pem, strlen(cluster.ca_pem)) : NULL;

    return json_pack("{s:O, s:s*, s:O*, s:O*}", "server", json_object_get(cluster.entry, "server"),
                     "certificate-authority-data", authority, "proxy-url",
                     json_object_get(cluster.entry, "proxy-url"), "config",
                     extension_of(cluster.entry));
}

static struct err *load(struct exec_plugin *plugin, const json_t *exec, const char *program,
                        struct exec_plugin_cluster cluster)
{
    const json_t *mode = json_object_get(exec, "interactiveMode");
    size_t version, interactive = IF_AVAILABLE;

    TRY(choose(exec, "apiVersion", api_versions, COUNT_OF(api_versions), &version));
    if (mode && !json_is_null(mode))
        TRY(choose(exec, "interactiveMode", interactive_modes, COUNT_OF(interactive_modes),
                   &interactive));
    TRY(words_of(exec, "args", 1, argument_of, &plugin->argv));
    plugin->argv[0] = mem_strdup(program);
    TRY(words_of(exec, "env", 0, variable_of, &plugin->variables));
    plugin->api_version = mem_strdup(api_versions[version]);
    plugin->interactive = (enum interactive)interactive;
    plugin->install_hint = mem_strdup(json_string_value(json_object_get(exec, "installHint")));
    if (json_is_true(json_object_get(exec, "provideClusterInfo")))
        plugin->cluster = cluster_json(cluster);
    return NULL;
}

struct err *exec_plugin_load(const json_t *exec, const char *program,
                             struct exec_plugin_cluster cluster, struct exec_plugin **ret)
{
    CLEANUP(exec_plugin_freep) struct exec_plugin *plugin = mem_alloc(sizeof *plugin);

    TRY(load(plugin, exec, program, cluster));
    *ret = TAKE_PTR(plugin);
    return NULL;
}

/* ---- what it is told ---- */

static char *info_of(const struct exec_plugin *plugin, bool interactive)
{
    CLEANUP(json_decrefp)
    json_t *info = json_pack("{s:s, s:s, s:{s:b, s:O*}}", "kind", "ExecCredential", "apiVersion",
                             plugin->api_version, "spec", "interactive", interactive, "cluster",
                             plugin->cluster);
    CLEANUP(freep) char *text = json_to_text(info);

    return mem_printf(INFO "=%s", text);
}

static bool is_of(const char *variable, const char *name_and_value)
{
    size_t length = strcspn(name_and_value, "=") + 1;

    return strncmp(variable, name_and_value, length) == 0;
}

static bool is_set(const struct exec_plugin *plugin, const char *variable)
{
    for (size_t i = 0; plugin->variables[i]; i++)
        if (is_of(variable, plugin->variables[i]))
            return true;
    return is_of(variable, INFO "=");
}

static size_t count(char *const words[])
{
    size_t n = 0;

    while (words[n])
        n++;
    return n;
}

/* Borrows all of it; free() the list. */
static const char **environment_of(const struct exec_plugin *plugin, const char *info)
{
    const char **all = mem_alloc((count(environ) + count(plugin->variables) + 2) * sizeof *all);
    size_t n = 0;

    for (size_t i = 0; environ[i]; i++)
        if (!is_set(plugin, environ[i]))
            all[n++] = environ[i];
    for (size_t i = 0; plugin->variables[i]; i++)
        if (!is_of(plugin->variables[i], INFO "="))
            all[n++] = plugin->variables[i];
    all[n] = info;
    return all;
}

/* ---- what it says ---- */

static struct err *interpret(struct task *self, const struct exec_plugin *plugin,
                             const struct buffer *answer, struct exec_credential *ret)
{
    CLEANUP(json_decrefp) json_t *credential = NULL;

    if (answer->length == 0)
        return err_new(ERR_DENIED, "it printed nothing");
    CLEANUP(err_freep)
    struct err *unreadable = json_parse(self, answer->data, answer->length, &credential);
    if (unreadable) /* whose message may quote a part of a secret */
        return err_new(ERR_DENIED, "it printed no JSON");
    const char *version = json_string_value(json_object_get(credential, "apiVersion"));
    const json_t *status = json_object_get(credential, "status");
    const char *token = json_string_value(json_object_get(status, "token"));
    const char *expires = json_string_value(json_object_get(status, "expirationTimestamp"));
    if (!same_text(version, plugin->api_version))
        return err_new(ERR_DENIED, "its apiVersion is %s, and the kubeconfig says %s",
                       version ? version : "missing", plugin->api_version);
    if (!token || !*token || strpbrk(token, "\r\n"))
        return err_new(ERR_DENIED, "its status.token is not a token%s",
                       json_object_get(status, "clientCertificateData")
                           ? "; client certificates are not supported here"
                           : "");
    int64_t expires_us = 0;
    if (expires)
        TRY(timestamp_parse(expires, &expires_us));
    *ret = (struct exec_credential){.token = mem_strdup(token), .expires_us = expires_us};
    return NULL;
}

/* ---- its run ---- */

static struct err *run(struct task *self, const struct exec_plugin *plugin,
                       struct exec_credential *ret)
{
    bool terminal = isatty(STDIN_FILENO);
    CLEANUP(freep) char *info = info_of(plugin, terminal && plugin->interactive != NEVER);
    CLEANUP(freep) const char **environment = environment_of(plugin, info);
    CLEANUP(buffer_fini) struct buffer answer;
    CLEANUP(freep) struct subprocess_result *result = mem_alloc(sizeof *result);

    buffer_init(&answer, LARGEST_CREDENTIAL);
    if (plugin->interactive == ALWAYS && !terminal)
        return err_new(ERR_DENIED, "its interactiveMode is Always, and standard input is not a "
                                   "terminal");
    TRY(subprocess_run(self,
                       &(struct subprocess_request){
                           .argv = (const char *const *)plugin->argv,
                           .environment = environment,
                           .answer = &answer,
                           .timeout_ms = LOGIN_MS,
                       },
                       result));
    if (result->exit_status)
        return err_new(ERR_DENIED, "it ended with exit status %d", result->exit_status);
    return interpret(self, plugin, &answer, ret);
}

struct err *exec_plugin_run(struct task *self, const struct exec_plugin *plugin,
                            struct exec_credential *ret)
{
    struct err *err = run(self, plugin, ret);
    bool missing = err && err_kind(err) == ERR_NOT_FOUND;

    if (!err || err_kind(err) == ERR_CANCELED)
        return err;
    return err_wrap(err_as(err, ERR_DENIED), "the credential plug-in %s%s%s%s", plugin->argv[0],
                    missing && plugin->install_hint ? " (" : "",
                    missing && plugin->install_hint ? plugin->install_hint : "",
                    missing && plugin->install_hint ? ")" : "");
}
