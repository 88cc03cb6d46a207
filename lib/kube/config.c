#include "lib/kube/config.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/base64.h"
#include "lib/base/file.h"
#include "lib/base/secret.h"
#include "lib/http/origin.h"
#include "lib/kube/kubeconfig_files.h"
#include "lib/kube/kubeconfig_member.h"

#define POD_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

enum { LARGEST_FILE = 1024 * 1024 };

void kube_config_fini(struct kube_config *config)
{
    free(config->server);
    free(config->ca_pem);
    free(config->certificate_pem);
    free(config->key_pem);
    secret_free(config->token);
    free(config->token_file);
    exec_plugin_free(config->plugin);
    free(config->proxy);
    free(config->namespace_);
    impersonation_fini(&config->impersonation);
    *config = (struct kube_config){0};
}

static struct err *read_line(const char *path, char **ret_line)
{
    TRY(file_read(path, LARGEST_FILE, ret_line, NULL));
    (*ret_line)[strcspn(*ret_line, "\r\n")] = '\0';
    return NULL;
}

/* ---- in a pod ---- */

static struct err *load_account(const char *directory, struct kube_config *config)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");

    if (!host || !port)
        return err_new(ERR_NOT_FOUND, "not in a pod (KUBERNETES_SERVICE_HOST is not set) and no "
                                      "kubeconfig was given");
    config->server =
        mem_printf(strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host, port);
    CLEANUP(freep) char *authority = mem_printf("%s/ca.crt", directory);
    CLEANUP(freep) char *namespace_ = mem_printf("%s/namespace", directory);
    config->token_file = mem_printf("%s/token", directory);
    TRY(read_line(config->token_file, &config->token));
    TRY(file_read(authority, LARGEST_FILE, &config->ca_pem, NULL));
    return read_line(namespace_, &config->namespace_);
}

/* ---- from a kubeconfig ---- */

/* Members that other programs honour and this one does not; to pass them over would connect as
 * somebody else, or to somewhere else. */
static const struct {
    const char *member, *instead;
} unsupported[] = {
    {"insecure-skip-tls-verify", "set certificate-authority-data"},
    {"tls-server-name", "use a server name that is in the server's certificate"},
    {"auth-provider", "use a token, a client certificate or exec"},
    {"username", "use a token, a client certificate or exec"},
};

static bool is_empty_text(const json_t *value)
{
    return json_is_string(value) && !json_string_length(value);
}

static struct err *check_supported(const json_t *object)
{
    for (size_t i = 0; i < COUNT_OF(unsupported); i++) {
        const json_t *value = json_object_get(object, unsupported[i].member);

        if (value && !json_is_false(value) && !json_is_null(value) && !is_empty_text(value))
            return err_new(ERR_INVALID, "%s is not supported here: %s", unsupported[i].member,
                           unsupported[i].instead);
    }
    return NULL;
}

/* Base64 may be broken into lines. */
static struct err *from_base64(const char *member, const char *text, char **ret)
{
    CLEANUP(secret_freep) char *packed = mem_alloc(strlen(text) + 1);
    size_t length = 0;

    for (; *text; text++)
        if (!isspace((unsigned char)*text))
            packed[length++] = *text;
    return base64_decode(packed, ret, &length)
               ? NULL
               : err_new(ERR_INVALID, "%s is not valid base64", member);
}

/* A path in a kubeconfig counts from the folder that the kubeconfig is in. */
static char *beside(const char *kubeconfig, const char *file)
{
    const char *slash = strrchr(kubeconfig, '/');

    if (file[0] == '/' || !slash)
        return mem_strdup(file);
    return mem_printf("%.*s/%s", (int)(slash - kubeconfig), kubeconfig, file);
}

/* PEM text, given in the document itself (NAME-data) or as a file. */
static struct err *pem_of(const json_t *object, const char *member, const char *kubeconfig,
                          char **ret)
{
    CLEANUP(freep) char *data_member = mem_printf("%s-data", member);
    const char *data, *file;

    TRY(kubeconfig_text(object, data_member, &data));
    TRY(kubeconfig_text(object, member, &file));
    if (data)
        return from_base64(data_member, data, ret);
    if (!file)
        return NULL;
    CLEANUP(freep) char *path = beside(kubeconfig, file);
    struct err *err = file_read(path, LARGEST_FILE, ret, NULL);
    return err ? err_wrap(err, "%s", member) : NULL;
}

static struct err *load_proxy(const json_t *cluster, struct kube_config *config)
{
    static const char *const schemes[] = {"http://", "https://", "socks5://", "socks5h://"};
    const char *proxy;

    TRY(kubeconfig_text(cluster, "proxy-url", &proxy));
    if (!proxy) {
        /* The environment's proxy could not reach this machine, and kubectl does not ask it to. */
        config->proxy = http_is_loopback(config->server) ? mem_strdup("") : NULL;
        return NULL;
    }
    for (size_t i = 0; !config->proxy && i < COUNT_OF(schemes); i++)
        if (strncmp(proxy, schemes[i], strlen(schemes[i])) == 0)
            config->proxy = mem_strdup(proxy);
    return config->proxy ? NULL
                         : err_new(ERR_INVALID, "proxy-url does not begin with http://, https:// "
                                                "or socks5://");
}

static struct err *load_cluster(const struct kubeconfig_entry *entry, struct kube_config *config)
{
    const json_t *cluster = entry->value;
    const char *server;

    TRY(check_supported(cluster));
    TRY(kubeconfig_required_text(cluster, "server", &server));
    if (strncmp(server, "https://", 8) != 0 && strncmp(server, "http://", 7) != 0)
        return err_new(ERR_INVALID, "server \"%s\" does not begin with https://", server);
    config->server = mem_strdup(server);
    for (size_t n = strlen(server); config->server[n - 1] == '/'; n--)
        config->server[n - 1] = '\0';
    TRY(load_proxy(cluster, config));
    return pem_of(cluster, "certificate-authority", entry->path, &config->ca_pem);
}

/* What a context names. */
struct parts {
    struct kubeconfig_entry cluster, user;
};

/* A token wins over it, as with kubectl. */
static struct err *load_plugin(const struct parts *parts, struct kube_config *config)
{
    const json_t *exec = json_object_get(parts->user.value, "exec");
    const char *command;

    if (!exec || json_is_null(exec) || config->token)
        return NULL;
    struct err *err = kubeconfig_required_text(exec, "command", &command);
    if (err)
        return err_wrap(err, "exec");
    CLEANUP(freep)
    char *program = strchr(command, '/') ? beside(parts->user.path, command) : mem_strdup(command);
    return exec_plugin_load(
        exec, program,
        (struct exec_plugin_cluster){.entry = parts->cluster.value, .ca_pem = config->ca_pem},
        &config->plugin);
}

static struct err *load_credentials(const struct kubeconfig_entry *entry,
                                    struct kube_config *config)
{
    const json_t *user = entry->value;
    const char *token, *token_file;

    TRY(check_supported(user));
    TRY(kubeconfig_text(user, "token", &token));
    TRY(kubeconfig_text(user, "tokenFile", &token_file));
    config->token = mem_strdup(token);
    if (token_file) {
        config->token_file = beside(entry->path, token_file);
        free(TAKE_PTR(config->token));
        struct err *err = read_line(config->token_file, &config->token);
        if (err)
            return err_wrap(err, "tokenFile");
    }
    TRY(pem_of(user, "client-certificate", entry->path, &config->certificate_pem));
    TRY(pem_of(user, "client-key", entry->path, &config->key_pem));
    if (!config->certificate_pem != !config->key_pem)
        return err_new(ERR_INVALID, "client-certificate and client-key must be set together");
    return NULL;
}

static struct err *load_user(const struct parts *parts, struct kube_config *config)
{
    TRY(load_credentials(&parts->user, config));
    TRY(load_plugin(parts, config));
    TRY(impersonation_add(parts->user.value, &config->impersonation));
    return impersonation_check(&config->impersonation);
}

static struct err *find_parts(const struct kubeconfig_files *files,
                              const struct kubeconfig_entry *context, struct parts *ret)
{
    const char *cluster, *user;
    struct err *err = kubeconfig_required_text(context->value, "cluster", &cluster);

    if (!err)
        err = kubeconfig_required_text(context->value, "user", &user);
    if (err)
        return kubeconfig_entry_err(context, err);
    TRY(kubeconfig_files_find(files, "cluster", cluster, &ret->cluster));
    return kubeconfig_files_find(files, "user", user, &ret->user);
}

static struct err *load_namespace(const json_t *context, struct kube_config *config)
{
    const char *namespace_;

    TRY(kubeconfig_text(context, "namespace", &namespace_));
    config->namespace_ = mem_strdup(namespace_ ? namespace_ : "default");
    return NULL;
}

static struct err *load_files(const char *paths, const char *context_name,
                              struct kube_config *config)
{
    CLEANUP(kubeconfig_files_fini) struct kubeconfig_files files = {0};
    struct kubeconfig_entry context;
    struct parts parts;

    TRY(kubeconfig_files_read(paths, &files));
    if (!context_name)
        TRY(kubeconfig_files_current(&files, &context_name));
    TRY(kubeconfig_files_find(&files, "context", context_name, &context));
    TRY(find_parts(&files, &context, &parts));
    TRY(kubeconfig_entry_err(&context, load_namespace(context.value, config)));
    TRY(kubeconfig_entry_err(&parts.cluster, load_cluster(&parts.cluster, config)));
    return kubeconfig_entry_err(&parts.user, load_user(&parts, config));
}

/* ---- either ---- */

static struct kube_config take(struct kube_config *config)
{
    struct kube_config taken = *config;

    *config = (struct kube_config){0};
    return taken;
}

static struct err *load_pod(const char *context, struct kube_config *config)
{
    if (context)
        return err_new(ERR_INVALID,
                       "context \"%s\": no kubeconfig was given, and the pod's service account has "
                       "no contexts",
                       context);
    TRY(impersonation_check(&config->impersonation));
    return load_account(POD_ACCOUNT, config);
}

struct err *kube_config_load(const char *paths, const struct kube_overrides *overrides,
                             struct kube_config *ret)
{
    CLEANUP(kube_config_fini) struct kube_config config = {0};
    const char *context = overrides ? overrides->context : NULL;

    if (overrides)
        TRY(impersonation_choose(&overrides->impersonation, &config.impersonation));
    if (context && !*context)
        context = NULL;
    TRY(paths && *paths ? load_files(paths, context, &config) : load_pod(context, &config));
    *ret = take(&config);
    return NULL;
}

struct err *kube_config_load_account(const char *directory, struct kube_config *ret)
{
    CLEANUP(kube_config_fini) struct kube_config config = {0};

    TRY(load_account(directory, &config));
    *ret = take(&config);
    return NULL;
}
