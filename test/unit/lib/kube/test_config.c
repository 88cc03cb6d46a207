/* Each row is a kubeconfig and what it becomes, or the whole text of the error. */
#include "lib/kube/config.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static char folder[] = "/tmp/test_kube_config.XXXXXX";

static char *path_of(const char *name)
{
    return mem_printf("%s/%s", folder, name);
}

static void write_file(const char *name, const char *text)
{
    CLEANUP(freep) char *path = path_of(name);
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int make_folder(void **state)
{
    static const struct {
        const char *name, *text;
    } files[] = {
        {"ca.pem", "the authority\n"},
        {"user.pem", "the certificate\n"},
        {"user.key", "the key\n"},
        {"token", "from a file\n"},
    };

    (void)state;
    if (!mkdtemp(folder))
        return -1;
    for (size_t i = 0; i < COUNT_OF(files); i++)
        write_file(files[i].name, files[i].text);
    return 0;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"ca.pem", "user.pem", "user.key", "token",
                                        "config", "ca.crt",   "namespace"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        CLEANUP(freep) char *path = path_of(names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

/* What came out, in one line; - is what is not there. The folder is written as /F. */
static char *summary(const struct kube_config *config)
{
    const char *parts[] = {config->server,    config->ca_pem, config->certificate_pem,
                           config->key_pem,   config->token,  config->token_file,
                           config->namespace_};
    char *text = mem_strdup("");

    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        const char *part = parts[i] ? parts[i] : "-";
        bool in_folder = strncmp(part, folder, strlen(folder)) == 0;
        char *longer =
            mem_printf("%s%s%s%.*s", text, i ? "|" : "", in_folder ? "/F" : "",
                       (int)strcspn(part, "\n"), part + (in_folder ? strlen(folder) : 0));

        free(text);
        text = longer;
    }
    return text;
}

static void expect(struct err *err, struct kube_config *config, const char *expected,
                   const char *fault)
{
    if (fault) {
        assert_non_null(err);
        if (strcmp(err_message(err), fault) != 0)
            fail_msg("expected %s, got %s", fault, err_message(err));
        err_free(err);
        assert_null(config->server);
        return;
    }
    assert_ok(err);
    CLEANUP(freep) char *got = summary(config);
    assert_string_equal(got, expected);
    kube_config_fini(config);
}

/* ---- kubeconfigs ---- */

#define CONTEXTS "contexts: [{name: c, context: {cluster: k, user: u}}]\ncurrent-context: c\n"
#define CLUSTER(fields) "clusters: [{name: k, cluster: {" fields "}}]\n"
#define USER(fields) "users: [{name: u, user: {" fields "}}]\n"
#define SERVER "server: 'https://10.0.0.1:6443'"

static const struct {
    const char *why, *text, *config, *fault; /* a fault without "kubeconfig PATH: " */
} rows[] = {
    {"the least", CLUSTER(SERVER) USER("token: t") CONTEXTS,
     "https://10.0.0.1:6443|-|-|-|t|-|default", NULL},
    {"as kubectl writes it",
     "apiVersion: v1\nkind: Config\npreferences: {}\n"
     "clusters:\n- name: other\n  cluster: {server: 'https://no'}\n"
     "- cluster:\n    certificate-authority-data: dGhlIGF1dGhvcml0eQo=\n    server: https://s/\n"
     "  name: k\n"
     "contexts:\n- context:\n    cluster: k\n    namespace: ns\n    user: u\n  name: c\n"
     "current-context: c\n"
     "users:\n- name: u\n  user:\n    client-certificate-data: dGhlIGNlcnRpZmljYXRl\n"
     "    client-key-data: dGhlIGtleQ==\n",
     "https://s|the authority|the certificate|the key|-|-|ns", NULL},
    {"files beside it",
     CLUSTER(SERVER ", certificate-authority: ca.pem")
         USER("client-certificate: user.pem, client-key: user.key, tokenFile: token") CONTEXTS,
     "https://10.0.0.1:6443|the authority|the certificate|the key|from a file|/F/token|default",
     NULL},
    {"data wins over a file",
     CLUSTER(SERVER ", certificate-authority: no, certificate-authority-data: QQ==")
         USER("token: t") CONTEXTS,
     "https://10.0.0.1:6443|A|-|-|t|-|default", NULL},
    {"a file wins over a token", CLUSTER(SERVER) USER("token: t, tokenFile: token") CONTEXTS,
     "https://10.0.0.1:6443|-|-|-|from a file|/F/token|default", NULL},
    {"base64 in lines",
     "clusters:\n- name: k\n  cluster:\n    " SERVER "\n    certificate-authority-data: |\n"
     "      dGhlIGF1\n      dGhvcml0eQ==\n" USER("token: t") CONTEXTS,
     "https://10.0.0.1:6443|the authority|-|-|t|-|default", NULL},
    {"JSON",
     "{\"clusters\":[{\"name\":\"k\",\"cluster\":{\"server\":\"http://h:1/p//\"}}],"
     "\"users\":[{\"name\":\"u\",\"user\":{}}],\"contexts\":[{\"name\":\"c\",\"context\":"
     "{\"cluster\":\"k\",\"user\":\"u\"}}],\"current-context\":\"c\"}",
     "http://h:1/p|-|-|-|-|-|default", NULL},
    {"a token wins over a plug-in", CLUSTER(SERVER) USER("token: t, exec: {}") CONTEXTS,
     "https://10.0.0.1:6443|-|-|-|t|-|default", NULL},
    {"what is off may be there",
     CLUSTER(SERVER ", insecure-skip-tls-verify: false, proxy-url: null") USER("exec: null")
         CONTEXTS,
     "https://10.0.0.1:6443|-|-|-|-|-|default", NULL},

    {"nothing", "", NULL, "current-context is missing"},
    {"not YAML", "a: [\n", NULL,
     "not usable YAML: line 2, column 1: did not find expected node content"},
    {"a list", "[]", NULL, "current-context is missing"},
    {"an empty context", "current-context: ''\n", NULL, "contexts has no entry named \"\""},
    {"no such context",
     CLUSTER(SERVER) USER("") "current-context: x\n"
                              "contexts: []\n",
     NULL, "contexts has no entry named \"x\""},
    {"a context that is a number", "current-context: 7\n", NULL,
     "current-context is not a string; put it in quotes"},
    {"no cluster in the context", "current-context: c\ncontexts: [{name: c, context: {user: u}}]\n",
     NULL, "cluster is missing"},
    {"no user in the context", "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n",
     NULL, "user is missing"},
    {"an entry without content", "current-context: c\ncontexts: [{name: c}]\n", NULL,
     "cluster is missing"},
    {"no such cluster", "clusters: []\n" USER("") CONTEXTS, NULL,
     "clusters has no entry named \"k\""},
    {"no such user", CLUSTER(SERVER) "users: [{name: x}]\n" CONTEXTS, NULL,
     "users has no entry named \"u\""},
    {"no server", CLUSTER("") USER("token: t") CONTEXTS, NULL, "cluster \"k\": server is missing"},
    {"a server without a scheme", CLUSTER("server: 10.0.0.1:6443") USER("token: t") CONTEXTS, NULL,
     "cluster \"k\": server \"10.0.0.1:6443\" does not begin with https://"},
    {"no verification", CLUSTER(SERVER ", insecure-skip-tls-verify: true") USER("") CONTEXTS, NULL,
     "cluster \"k\": insecure-skip-tls-verify is not supported here: set "
     "certificate-authority-data"},
    {"another name", CLUSTER(SERVER ", tls-server-name: x") USER("") CONTEXTS, NULL,
     "cluster \"k\": tls-server-name is not supported here: use a server name that is in the "
     "server's certificate"},
    {"a proxy of no kind", CLUSTER(SERVER ", proxy-url: 'x:80'") USER("") CONTEXTS, NULL,
     "cluster \"k\": proxy-url does not begin with http://, https:// or socks5://"},
    {"a plug-in without a program", CLUSTER(SERVER) USER("exec: {}") CONTEXTS, NULL,
     "user \"u\": exec: command is missing"},
    {"a plug-in of an old version",
     CLUSTER(SERVER) USER("exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1}")
         CONTEXTS,
     NULL,
     "user \"u\": exec.apiVersion is not client.authentication.k8s.io/v1 or "
     "client.authentication.k8s.io/v1beta1"},
    {"an old plug-in", CLUSTER(SERVER) USER("auth-provider: {name: gcp}") CONTEXTS, NULL,
     "user \"u\": auth-provider is not supported here: use a token, a client certificate or exec"},
    {"a password", CLUSTER(SERVER) USER("username: a, password: b") CONTEXTS, NULL,
     "user \"u\": username is not supported here: use a token, a client certificate or exec"},
    {"somebody else", CLUSTER(SERVER) USER("token: t, as: admin") CONTEXTS, NULL,
     "user \"u\": as is not supported here: use the credentials of that user"},
    {"a token of digits", CLUSTER(SERVER) USER("token: 12345") CONTEXTS, NULL,
     "user \"u\": token is not a string; put it in quotes"},
    {"not base64", CLUSTER(SERVER ", certificate-authority-data: '?'") USER("token: t") CONTEXTS,
     NULL, "cluster \"k\": certificate-authority-data is not valid base64"},
    {"no such file", CLUSTER(SERVER ", certificate-authority: /no/ca") USER("token: t") CONTEXTS,
     NULL, "cluster \"k\": certificate-authority: /no/ca: No such file or directory"},
    {"no such token file", CLUSTER(SERVER) USER("tokenFile: /no/token") CONTEXTS, NULL,
     "user \"u\": tokenFile: /no/token: No such file or directory"},
    {"a key alone", CLUSTER(SERVER) USER("client-key: user.key") CONTEXTS, NULL,
     "user \"u\": client-certificate and client-key must be set together"},
};

static void test_kubeconfigs(void **state)
{
    CLEANUP(freep) char *path = path_of("config");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep)
        char *fault = rows[i].fault ? mem_printf("kubeconfig %s: %s", path, rows[i].fault) : NULL;
        struct kube_config config = {0};

        write_file("config", rows[i].text);
        expect(kube_config_load(path, &config), &config, rows[i].config, fault);
    }
}

static void test_a_proxy(void **state)
{
    static const char *const proxies[] = {"http://p:3128", "https://p", "socks5://p:1080"};
    CLEANUP(freep) char *path = path_of("config");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(proxies); i++) {
        CLEANUP(kube_config_fini) struct kube_config config = {0};
        CLEANUP(freep)
        char *text =
            mem_printf(CLUSTER(SERVER ", proxy-url: '%s'") USER("token: t") CONTEXTS, proxies[i]);

        write_file("config", text);
        assert_ok(kube_config_load(path, &config));
        assert_string_equal(config.proxy, proxies[i]);
    }
}

static void test_a_path_without_a_folder(void **state)
{
    struct kube_config config = {0};
    char *before = getcwd(NULL, 0);

    (void)state;
    write_file("config",
               CLUSTER(SERVER ", certificate-authority: ca.pem") USER("token: t") CONTEXTS);
    assert_int_equal(chdir(folder), 0);
    struct err *err = kube_config_load("config", &config);
    assert_int_equal(chdir(before), 0);
    free(before);
    expect(err, &config, "https://10.0.0.1:6443|the authority|-|-|t|-|default", NULL);
}

static void test_files_that_cannot_be_read(void **state)
{
    struct kube_config config = {0};

    (void)state;
    expect(kube_config_load("/no/config", &config), &config, NULL,
           "kubeconfig: /no/config: No such file or directory");
    expect(kube_config_load("/dev/zero", &config), &config, NULL,
           "kubeconfig: /dev/zero: larger than 1048576 bytes");
}

/* ---- in a pod ---- */

static void test_accounts(void **state)
{
    static const struct {
        const char *host, *port, *missing, *config, *fault;
    } accounts[] = {
        {"10.96.0.1", "443", NULL, "https://10.96.0.1:443|CA|-|-|tok|/F/token|kube-system", NULL},
        {"fd00::1", "6443", NULL, "https://[fd00::1]:6443|CA|-|-|tok|/F/token|kube-system", NULL},
        {NULL, "443", NULL, NULL,
         "not in a pod (KUBERNETES_SERVICE_HOST is not set) and no kubeconfig was given"},
        {"10.96.0.1", "443", "token", NULL, "No such file or directory"},
        {"10.96.0.1", "443", "ca.crt", NULL, "No such file or directory"},
        {"10.96.0.1", "443", "namespace", NULL, "No such file or directory"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(accounts); i++) {
        struct kube_config config = {0};
        CLEANUP(freep) char *missing = path_of(accounts[i].missing ? accounts[i].missing : "-");
        CLEANUP(freep)
        char *fault = accounts[i].missing ? mem_printf("%s: %s", missing, accounts[i].fault)
                                          : mem_strdup(accounts[i].fault);

        write_file("token", "tok\n");
        write_file("ca.crt", "CA\n");
        write_file("namespace", "kube-system");
        if (accounts[i].host)
            setenv("KUBERNETES_SERVICE_HOST", accounts[i].host, 1);
        setenv("KUBERNETES_SERVICE_PORT", accounts[i].port, 1);
        if (accounts[i].missing)
            unlink(missing);
        expect(kube_config_load_account(folder, &config), &config, accounts[i].config, fault);
        unsetenv("KUBERNETES_SERVICE_HOST");
        unsetenv("KUBERNETES_SERVICE_PORT");
    }
}

static void test_no_path_is_the_pods_account(void **state)
{
    struct kube_config config = {0};

    (void)state;
    expect(kube_config_load("", &config), &config, NULL,
           "not in a pod (KUBERNETES_SERVICE_HOST is not set) and no kubeconfig was given");
    expect(kube_config_load(NULL, &config), &config, NULL,
           "not in a pod (KUBERNETES_SERVICE_HOST is not set) and no kubeconfig was given");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kubeconfigs),
        cmocka_unit_test(test_a_proxy),
        cmocka_unit_test(test_a_path_without_a_folder),
        cmocka_unit_test(test_files_that_cannot_be_read),
        cmocka_unit_test(test_accounts),
        cmocka_unit_test(test_no_path_is_the_pods_account),
    };

    unsetenv("KUBERNETES_SERVICE_HOST");
    unsetenv("KUBERNETES_SERVICE_PORT");
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
