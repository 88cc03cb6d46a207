#include "lib/kube/config.h"

#include <ctype.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/file.h"
#include "lib/base/secret.h"
#include "lib/json/parse.h"
#include "lib/json/yaml.h"

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
    {"as", "use the credentials of that user"},
};

static struct err *check_supported(const json_t *object)
{
    for (size_t i = 0; i < COUNT_OF(unsupported); i++) {
        const json_t *value = json_object_get(object, unsupported[i].member);

        if (value && !json_is_false(value) && !json_is_null(value))
            return err_new(ERR_INVALID, "%s is not supported here: %s", unsupported[i].member,
                           unsupported[i].instead);
    }
    return NULL;
}

/* NULL if it is not there. */
static struct err *text_of(const json_t *object, const char *member, const char **ret)
{
    const json_t *value = json_object_get(object, member);

    if (value && !json_is_null(value) && !json_is_string(value))
        return err_new(ERR_INVALID, "%s is not a string; put it in quotes", member);
    *ret = json_string_value(value);
    return NULL;
}

static struct err *required_text_of(const json_t *object, const char *member, const char **ret)
{
    TRY(text_of(object, member, ret));
    return *ret ? NULL : err_new(ERR_INVALID, "%s is missing", member);
}

/* The member `inner` of the entry of `list` whose name is `name`. */
static struct err *find_entry(const json_t *document, const char *list, const char *inner,
                              const char *name, const json_t **ret)
{
    const json_t *entries = json_object_get(document, list);

    for (size_t i = 0; i < json_array_size(entries); i++) {
        const json_t *entry = json_array_get(entries, i);
        const char *entry_name = json_string_value(json_object_get(entry, "name"));

        if (entry_name && strcmp(entry_name, name) == 0) {
            *ret = json_object_get(entry, inner);
            return NULL;
        }
    }
    return err_new(ERR_INVALID, "%s has no entry named \"%s\"", list, name);
}

/* Base64 may be broken into lines. */
static struct err *from_base64(const char *member, const char *text, char **ret)
{
    CLEANUP(freep) unsigned char *packed = mem_alloc(strlen(text) + 1);
    CLEANUP(freep) unsigned char *decoded = mem_alloc(strlen(text) + 1);
    size_t length = 0;

    for (; *text; text++)
        if (!isspace((unsigned char)*text))
            packed[length++] = (unsigned char)*text;
    if (EVP_DecodeBlock(decoded, packed, (int)length) < 0)
        return err_new(ERR_INVALID, "%s is not valid base64", member);
    *ret = (char *)TAKE_PTR(decoded);
    return NULL;
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

    TRY(text_of(object, data_member, &data));
    TRY(text_of(object, member, &file));
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

    TRY(text_of(cluster, "proxy-url", &proxy));
    if (!proxy || !*proxy)
        return NULL;
    for (size_t i = 0; !config->proxy && i < COUNT_OF(schemes); i++)
        if (strncmp(proxy, schemes[i], strlen(schemes[i])) == 0)
            config->proxy = mem_strdup(proxy);
    return config->proxy ? NULL
                         : err_new(ERR_INVALID, "proxy-url does not begin with http://, https:// "
                                                "or socks5://");
}

static struct err *load_cluster(const json_t *cluster, const char *path, struct kube_config *config)
{
    const char *server;

    TRY(check_supported(cluster));
    TRY(required_text_of(cluster, "server", &server));
    if (strncmp(server, "https://", 8) != 0 && strncmp(server, "http://", 7) != 0)
        return err_new(ERR_INVALID, "server \"%s\" does not begin with https://", server);
    config->server = mem_strdup(server);
    for (size_t n = strlen(server); config->server[n - 1] == '/'; n--)
        config->server[n - 1] = '\0';
    TRY(load_proxy(cluster, config));
    return pem_of(cluster, "certificate-authority", path, &config->ca_pem);
}

/* A token wins over it, as with kubectl. */
static struct err *load_plugin(const json_t *user, const json_t *cluster, const char *path,
                               struct kube_config *config)
{
    const json_t *exec = json_object_get(user, "exec");
    const char *command;

    if (!exec || json_is_null(exec) || config->token)
        return NULL;
    struct err *err = required_text_of(exec, "command", &command);
    if (err)
        return err_wrap(err, "exec");
    CLEANUP(freep)
    char *program = strchr(command, '/') ? beside(path, command) : mem_strdup(command);
    return exec_plugin_load(
        exec, program, (struct exec_plugin_cluster){.entry = cluster, .ca_pem = config->ca_pem},
        &config->plugin);
}

static struct err *load_user(const json_t *user, const char *path, struct kube_config *config)
{
    const char *token, *token_file;

    TRY(check_supported(user));
    TRY(text_of(user, "token", &token));
    TRY(text_of(user, "tokenFile", &token_file));
    config->token = mem_strdup(token);
    if (token_file) {
        config->token_file = beside(path, token_file);
        free(TAKE_PTR(config->token));
        struct err *err = read_line(config->token_file, &config->token);
        if (err)
            return err_wrap(err, "tokenFile");
    }
    TRY(pem_of(user, "client-certificate", path, &config->certificate_pem));
    TRY(pem_of(user, "client-key", path, &config->key_pem));
    if (!config->certificate_pem != !config->key_pem)
        return err_new(ERR_INVALID, "client-certificate and client-key must be set together");
    return NULL;
}

static struct err *load_context(const json_t *document, const char *path,
                                struct kube_config *config)
{
    const char *current, *cluster_name, *user_name, *namespace_;
    const json_t *context, *cluster, *user;

    TRY(required_text_of(document, "current-context", &current));
    TRY(find_entry(document, "contexts", "context", current, &context));
    TRY(required_text_of(context, "cluster", &cluster_name));
    TRY(required_text_of(context, "user", &user_name));
    TRY(text_of(context, "namespace", &namespace_));
    TRY(find_entry(document, "clusters", "cluster", cluster_name, &cluster));
    TRY(find_entry(document, "users", "user", user_name, &user));
    config->namespace_ = mem_strdup(namespace_ ? namespace_ : "default");

    struct err *err = load_cluster(cluster, path, config);
    if (err)
        return err_wrap(err, "cluster \"%s\"", cluster_name);
    err = load_user(user, path, config);
    if (!err)
        err = load_plugin(user, cluster, path, config);
    return err ? err_wrap(err, "user \"%s\"", user_name) : NULL;
}

static struct err *load_file(const char *path, struct kube_config *config)
{
    CLEANUP(freep) char *text = NULL;
    CLEANUP(json_decrefp) json_t *document = NULL;
    size_t length;

    struct err *err = file_read(path, LARGEST_FILE, &text, &length);
    if (err)
        return err_wrap(err, "kubeconfig");
    err = yaml_parse(text, length, &document);
    if (!err)
        err = load_context(document, path, config);
    return err ? err_wrap(err, "kubeconfig %s", path) : NULL;
}

/* ---- either ---- */

static struct kube_config take(struct kube_config *config)
{
    struct kube_config taken = *config;

    *config = (struct kube_config){0};
    return taken;
}

struct err *kube_config_load(const char *path, struct kube_config *ret)
{
    CLEANUP(kube_config_fini) struct kube_config config = {0};

    if (!path || !*path)
        return kube_config_load_account(POD_ACCOUNT, ret);
    TRY(load_file(path, &config));
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
