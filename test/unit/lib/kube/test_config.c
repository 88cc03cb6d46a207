/* Each row is a kubeconfig and what it becomes, or the whole text of the error. */
#include "lib/kube/config.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
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
    static const char *const names[] = {"ca.pem", "user.pem",  "user.key", "token",     "config",
                                        "ca.crt", "namespace", "sub/ca",   "sub/config"};
    CLEANUP(freep) char *sub = path_of("sub");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        CLEANUP(freep) char *path = path_of(names[i]);
        unlink(path);
    }
    return rmdir(sub) || rmdir(folder);
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
    {"an empty namespace",
     CLUSTER(SERVER)
         USER("") "contexts: [{name: c, context: {cluster: k, user: u, namespace: ''}}]\n"
                  "current-context: c\n",
     "https://10.0.0.1:6443|-|-|-|-|-|default", NULL},
    {"JSON",
     "{\"clusters\":[{\"name\":\"k\",\"cluster\":{\"server\":\"http://h:1/p//\"}}],"
     "\"users\":[{\"name\":\"u\",\"user\":{}}],\"contexts\":[{\"name\":\"c\",\"context\":"
     "{\"cluster\":\"k\",\"user\":\"u\"}}],\"current-context\":\"c\"}",
     "http://h:1/p|-|-|-|-|-|default", NULL},
    {"what is empty is not given",
     CLUSTER(SERVER ", certificate-authority: ca.pem, certificate-authority-data: '', "
                    "tls-server-name: ''")
         USER("client-certificate: user.pem, client-certificate-data: '', client-key: user.key, "
              "client-key-data: '', token: t, tokenFile: '', username: ''") CONTEXTS,
     "https://10.0.0.1:6443|the authority|the certificate|the key|t|-|default", NULL},
    {"an empty token is none", CLUSTER(SERVER) USER("token: '', exec: {}") CONTEXTS, NULL,
     "user \"u\": exec: command is missing"},
    {"a token wins over a plug-in", CLUSTER(SERVER) USER("token: t, exec: {}") CONTEXTS,
     "https://10.0.0.1:6443|-|-|-|t|-|default", NULL},
    {"what is off may be there",
     CLUSTER(SERVER ", insecure-skip-tls-verify: false, proxy-url: null") USER("exec: null")
         CONTEXTS,
     "https://10.0.0.1:6443|-|-|-|-|-|default", NULL},

    {"nothing", "", NULL, "current-context is missing; there are no contexts"},
    {"not YAML", "a: [\n", NULL,
     "not usable YAML: line 2, column 1: did not find expected node content"},
    {"a list", "[]", NULL, "not a map"},
    {"an empty context", "current-context: ''\n", NULL,
     "current-context is missing; there are no contexts"},
    {"no such context",
     CLUSTER(SERVER) USER("") "current-context: x\n"
                              "contexts: []\n",
     NULL, "contexts has no entry named \"x\"; there are no contexts"},
    {"a context that is a number", "current-context: 7\n", NULL,
     "current-context is not a string; put it in quotes"},
    {"no cluster in the context", "current-context: c\ncontexts: [{name: c, context: {user: u}}]\n",
     NULL, "context \"c\": cluster is missing"},
    {"no user in the context", "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n",
     NULL, "context \"c\": user is missing"},
    {"an entry without content", "current-context: c\ncontexts: [{name: c}]\n", NULL,
     "context \"c\": cluster is missing"},
    {"no such cluster", "clusters: []\n" USER("") CONTEXTS, NULL,
     "clusters has no entry named \"k\"; there are no clusters"},
    {"no such user", CLUSTER(SERVER) "users: [{name: x}]\n" CONTEXTS, NULL,
     "users has no entry named \"u\"; the users are \"x\""},
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
    {"groups of nobody", CLUSTER(SERVER) USER("token: t, as-groups: [admins]") CONTEXTS, NULL,
     "user \"u\": groups, but no user to impersonate (as)"},
    {"a namespace that is a number",
     CLUSTER(SERVER)
         USER("") "contexts: [{name: c, context: {cluster: k, user: u, namespace: 7}}]\n"
                  "current-context: c\n",
     NULL, "context \"c\": namespace is not a string; put it in quotes"},
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
        expect(kube_config_load(path, NULL, &config), &config, rows[i].config, fault);
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
        assert_ok(kube_config_load(path, NULL, &config));
        assert_string_equal(config.proxy, proxies[i]);
    }
}

/* The environment's, of which the client asks. */
static void test_no_proxy_to_this_machine(void **state)
{
    static const struct {
        const char *cluster, *proxy;
    } clusters[] = {
        {"server: 'https://127.0.0.1:6443'", ""},
        {"server: 'https://localhost', proxy-url: ''", ""},
        {"server: 'https://127.0.0.1', proxy-url: 'http://p:3128'", "http://p:3128"},
        {SERVER, NULL},
    };
    CLEANUP(freep) char *path = path_of("config");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(clusters); i++) {
        CLEANUP(kube_config_fini) struct kube_config config = {0};
        CLEANUP(freep)
        char *text = mem_printf(CLUSTER("%s") USER("token: t") CONTEXTS, clusters[i].cluster);

        write_file("config", text);
        assert_ok(kube_config_load(path, NULL, &config));
        if (clusters[i].proxy)
            assert_string_equal(config.proxy, clusters[i].proxy);
        else
            assert_null(config.proxy);
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
    struct err *err = kube_config_load("config", NULL, &config);
    assert_int_equal(chdir(before), 0);
    free(before);
    expect(err, &config, "https://10.0.0.1:6443|the authority|-|-|t|-|default", NULL);
}

static void test_files_that_cannot_be_read(void **state)
{
    struct kube_config config = {0};

    (void)state;
    expect(kube_config_load("/no/config", NULL, &config), &config, NULL,
           "kubeconfig: /no/config: No such file or directory");
    expect(kube_config_load("/dev/zero", NULL, &config), &config, NULL,
           "kubeconfig: /dev/zero: larger than 1048576 bytes");
}

static void test_several_files(void **state)
{
    CLEANUP(freep) char *sub = path_of("sub");
    CLEANUP(freep) char *paths = mem_printf("%s/config:%s/nothing:%s/config", folder, folder, sub);
    struct kube_config config = {0};

    (void)state;
    assert_int_equal(mkdir(sub, 0700), 0);
    write_file("sub/ca", "the other authority\n");
    write_file("config", USER("tokenFile: token") CONTEXTS);
    write_file("sub/config", CLUSTER(SERVER ", certificate-authority: ca") USER("token: t"));
    expect(kube_config_load(paths, NULL, &config), &config,
           "https://10.0.0.1:6443|the other authority|-|-|from a file|/F/token|default", NULL);

    write_file("sub/config", CLUSTER("server: x") USER("token: t"));
    CLEANUP(freep)
    char *fault =
        mem_printf("kubeconfig %s/config: cluster \"k\": server \"x\" does not begin with "
                   "https://",
                   sub);
    expect(kube_config_load(paths, NULL, &config), &config, NULL, fault);
}

/* ---- what a person says beside it ---- */

#define TWO_CONTEXTS                                                                               \
    "contexts: [{name: c, context: {cluster: k, user: u}},"                                        \
    " {name: d, context: {cluster: k, user: v, namespace: dd}}]\ncurrent-context: c\n"             \
    "users: [{name: u, user: {token: t}}, {name: v, user: {token: w, as: bob, as-groups: [g]}}]\n"

static const char *const admins[] = {"admins", "a,b"};

static const struct {
    struct kube_overrides overrides;
    const char *config, *impersonated, *fault; /* as above */
} chosen[] = {
    {{.context = ""}, "https://10.0.0.1:6443|-|-|-|t|-|default", "", NULL},
    {{.context = "d"}, "https://10.0.0.1:6443|-|-|-|w|-|dd", "bob g ", NULL},
    {{.context = "d", .impersonation = {.user = "eve"}},
     "https://10.0.0.1:6443|-|-|-|w|-|dd",
     "eve g ",
     NULL},
    {{.context = "d", .impersonation = {.groups = admins, .n_groups = 2}},
     "https://10.0.0.1:6443|-|-|-|w|-|dd",
     "admins a,b bob ",
     NULL},
    {{.context = "e"},
     NULL,
     "",
     "contexts has no entry named \"e\"; the contexts are \"c\", \"d\""},
    {{.impersonation = {.groups = admins, .n_groups = 1}},
     NULL,
     "",
     "user \"u\": groups, but no user to impersonate (as)"},
};

static void test_choices(void **state)
{
    CLEANUP(freep) char *path = path_of("config");

    (void)state;
    write_file("config", CLUSTER(SERVER) TWO_CONTEXTS);
    for (size_t i = 0; i < COUNT_OF(chosen); i++) {
        CLEANUP(freep)
        char *fault =
            chosen[i].fault ? mem_printf("kubeconfig %s: %s", path, chosen[i].fault) : NULL;
        struct kube_config config = {0};
        struct err *err = kube_config_load(path, &chosen[i].overrides, &config);
        CLEANUP(buffer_fini) struct buffer values = {.limit = 64};

        for (size_t j = 0; j < config.impersonation.n; j++)
            buffer_printf(&values, "%s ", config.impersonation.headers[j].value);
        assert_string_equal(values.data ? values.data : "", chosen[i].impersonated);
        expect(err, &config, chosen[i].config, fault);
    }
}

static void test_choices_without_a_kubeconfig(void **state)
{
    struct kube_config config = {0};

    (void)state;
    expect(kube_config_load("", &(struct kube_overrides){.context = "c"}, &config), &config, NULL,
           "context \"c\": no kubeconfig was given, and the pod's service account has no contexts");
    expect(kube_config_load("", &(struct kube_overrides){.impersonation = {.uid = "7"}}, &config),
           &config, NULL, "a uid, but no user to impersonate (as)");
    expect(
        kube_config_load("", &(struct kube_overrides){.impersonation = {.user = "a\n"}}, &config),
        &config, NULL, "--as: is empty, begins or ends with a blank, or has a control character");
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
    expect(kube_config_load("", NULL, &config), &config, NULL,
           "not in a pod (KUBERNETES_SERVICE_HOST is not set) and no kubeconfig was given");
    expect(kube_config_load(NULL, NULL, &config), &config, NULL,
           "not in a pod (KUBERNETES_SERVICE_HOST is not set) and no kubeconfig was given");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kubeconfigs),
        cmocka_unit_test(test_a_proxy),
        cmocka_unit_test(test_no_proxy_to_this_machine),
        cmocka_unit_test(test_a_path_without_a_folder),
        cmocka_unit_test(test_files_that_cannot_be_read),
        cmocka_unit_test(test_several_files),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_choices_without_a_kubeconfig),
        cmocka_unit_test(test_accounts),
        cmocka_unit_test(test_no_path_is_the_pods_account),
    };

    unsetenv("KUBERNETES_SERVICE_HOST");
    unsetenv("KUBERNETES_SERVICE_PORT");
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
