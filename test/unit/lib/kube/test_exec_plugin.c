/* Credential plug-ins are shell scripts here, run as real processes. */
#include "lib/kube/exec_plugin.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/secret.h"
#include "lib/rt/wait.h"
#include "test/unit/expect.h"

#define V1 "client.authentication.k8s.io/v1"
#define BETA V1 "beta1"

/* ---- what the kubeconfig says ---- */

static const struct {
    const char *exec, *fault;
} entries[] = {
    {"{'apiVersion': '" V1 "'}", NULL},
    {"{'apiVersion': '" BETA "', 'args': null, 'env': null, 'interactiveMode': null}", NULL},
    {"{'apiVersion': '" V1 "', 'args': ['a', ''], 'env': [{'name': 'A', 'value': ''}]}", NULL},
    {"{'apiVersion': '" V1 "', 'interactiveMode': 'Always'}", NULL},
    {"{}", "exec.apiVersion is not " V1 " or " BETA},
    {"{'apiVersion': 1}", "exec.apiVersion is not " V1 " or " BETA},
    {"{'apiVersion': '" V1 "', 'interactiveMode': 'never'}",
     "exec.interactiveMode is not Never, IfAvailable or Always"},
    {"{'apiVersion': '" V1 "', 'args': 'a b'}", "exec.args is not a list of at most 256"},
    {"{'apiVersion': '" V1 "', 'args': ['a', 2]}",
     "exec.args[1] is not a string, or not a name and a value"},
    {"{'apiVersion': '" V1 "', 'env': ['A=b']}",
     "exec.env[0] is not a string, or not a name and a value"},
    {"{'apiVersion': '" V1 "', 'env': [{'name': 'A=', 'value': 'b'}]}",
     "exec.env[0] is not a string, or not a name and a value"},
    {"{'apiVersion': '" V1 "', 'env': [{'name': '', 'value': 'b'}]}",
     "exec.env[0] is not a string, or not a name and a value"},
};

/* With ' for ". */
static struct err *load(const char *text, const char *program, struct exec_plugin **ret)
{
    CLEANUP(freep) char *quoted = mem_strdup(text);

    for (char *c = quoted; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    CLEANUP(json_decrefp) json_t *exec = json_loads(quoted, 0, NULL);
    assert_non_null(exec);
    return exec_plugin_load(exec, program, (struct exec_plugin_cluster){0}, ret);
}

static void test_entries(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(entries); i++) {
        struct exec_plugin *plugin = NULL;
        struct err *err = load(entries[i].exec, "x", &plugin);

        if (entries[i].fault)
            assert_fails(err, ERR_INVALID, entries[i].fault);
        else
            assert_ok(err);
        exec_plugin_free(plugin);
    }
}

static void test_a_long_list(void **state)
{
    CLEANUP(json_decrefp) json_t *exec = json_pack("{s:s, s:[]}", "apiVersion", V1, "args");
    struct exec_plugin *plugin;

    (void)state;
    for (int i = 0; i < 257; i++)
        json_array_append_new(json_object_get(exec, "args"), json_string("a"));
    assert_fails(exec_plugin_load(exec, "x", (struct exec_plugin_cluster){0}, &plugin), ERR_INVALID,
                 "exec.args is not a list of at most 256");
}

/* ---- its runs ---- */

struct asked {
    const struct exec_plugin *plugin;
    struct exec_credential credential;
    struct err *err;
};

static void asks(struct task *self, void *arg)
{
    struct asked *asked = arg;

    asked->err = exec_plugin_run(self, asked->plugin, &asked->credential);
}

static struct err *ask(const struct exec_plugin *plugin, struct exec_credential *ret)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new();
    struct asked asked = {.plugin = plugin};

    loop_spawn(loop, "asker", asks, &asked);
    loop_run(loop);
    *ret = asked.credential;
    return asked.err;
}

/* A shell that runs the script, with `members` besides those that it has always. Takes them. */
static struct exec_plugin *scripted(const char *script, json_t *members)
{
    CLEANUP(json_decrefp)
    json_t *exec =
        json_pack("{s:s, s:[s, s], s:[{s:s, s:s}, {s:s, s:s}, {s:s, s:s}]}", "apiVersion", V1,
                  "args", "-c", script, "env", "name", "FROM_CONFIG", "value", "a b", "name",
                  "BOTH", "value", "config", "name", "KUBERNETES_EXEC_INFO", "value", "x");
    CLEANUP(json_decrefp)
    json_t *entry =
        json_pack("{s:s, s:s, s:[{s:s, s:i}, {s:s, s:{s:s}}]}", "server", "https://s",
                  "certificate-authority", "ca.pem", "extensions", "name", "other", "extension", 1,
                  "name", "client.authentication.k8s.io/exec", "extension", "audience", "us");
    struct exec_plugin *plugin = NULL;

    json_object_update(exec, members);
    json_decref(members);
    assert_ok(exec_plugin_load(
        exec, "sh", (struct exec_plugin_cluster){.entry = entry, .ca_pem = "the CA"}, &plugin));
    return plugin;
}

/* Variables of the shell may be in it. */
#define SAY(status) "cat <<END\n{\"apiVersion\":\"" V1 "\",\"status\":{" status "}}\nEND"
#define PAIR(name, value) "\"" name "\":\"" value "\""

static const struct {
    const char *script, *token;
    int64_t expires_us;
    const char *fault;
} runs[] = {
    {SAY(PAIR("token", "t")), "t", 0, NULL},
    {SAY(PAIR("token", "t") "," PAIR("expirationTimestamp", "1970-01-01T00:00:02Z")), "t", 2000000,
     NULL},
    {SAY(PAIR("token", "$FROM_CONFIG,$BOTH,$OWN")), "a b,config,own", 0, NULL},
    {"n=$(tr '\\0' '\\n' </proc/$$/environ | grep -c ^BOTH=); " SAY(PAIR("token", "$n")), "1", 0,
     NULL},
    {"echo hint >&2; " SAY(PAIR("token", "t")), "t", 0, NULL},

    {"true", NULL, 0, "it printed nothing"},
    {"echo not JSON: secret", NULL, 0, "it printed no JSON"},
    {"echo {}", NULL, 0, "its apiVersion is missing, and the kubeconfig says " V1},
    {"echo '{\"apiVersion\":\"" BETA "\"}'", NULL, 0,
     "its apiVersion is " BETA ", and the kubeconfig says " V1},
    {SAY(""), NULL, 0, "its status.token is not a token"},
    {SAY(PAIR("token", "")), NULL, 0, "its status.token is not a token"},
    {SAY(PAIR("clientCertificateData", "c")), NULL, 0,
     "its status.token is not a token; client certificates are not supported here"},
    {SAY(PAIR("token", "t") "," PAIR("expirationTimestamp", "soon")), NULL, 0,
     "\"soon\" is not a time such as 2026-11-21T08:51:00Z"},
    {"exit 4", NULL, 0, "it ended with exit status 4"},
    {"kill -9 $$", NULL, 0, "it ended with exit status 137"},
    {"yes | head -c 70000", NULL, 0, "sh: its output is longer than 65536 bytes"},
};

static void test_runs(void **state)
{
    (void)state;
    setenv("OWN", "own", 1);
    setenv("BOTH", "environment", 1);
    for (size_t i = 0; i < COUNT_OF(runs); i++) {
        struct exec_plugin *plugin = scripted(runs[i].script, json_object());
        struct exec_credential credential = {0};
        struct err *err = ask(plugin, &credential);

        if (runs[i].fault) {
            CLEANUP(freep) char *fault = mem_printf("the credential plug-in sh: %s", runs[i].fault);
            assert_fails(err, ERR_DENIED, fault);
        } else {
            assert_ok(err);
            assert_string_equal(credential.token, runs[i].token);
            assert_int_equal(credential.expires_us, runs[i].expires_us);
        }
        secret_free(credential.token);
        exec_plugin_free(plugin);
    }
}

/* Takes `members`. */
static void expect_info(json_t *members, const char *expected)
{
    struct exec_plugin *plugin = scripted(
        "t=$(echo -n \"$KUBERNETES_EXEC_INFO\" | tr '\"' \"'\")\n" SAY(PAIR("token", "$t")),
        members);
    struct exec_credential credential = {0};

    assert_ok(ask(plugin, &credential));
    assert_string_equal(credential.token, expected);
    secret_free(credential.token);
    exec_plugin_free(plugin);
}

static void test_what_it_is_told(void **state)
{
    (void)state;
    expect_info(json_object(),
                "{'kind':'ExecCredential','apiVersion':'" V1 "','spec':{'interactive':false}}");
    expect_info(json_pack("{s:b}", "provideClusterInfo", 1),
                "{'kind':'ExecCredential','apiVersion':'" V1
                "','spec':{'interactive':false,'cluster':{'server':'https://s',"
                "'certificate-authority-data':'dGhlIENB','config':{'audience':'us'}}}}");
}

static void test_one_that_needs_a_terminal(void **state)
{
    struct exec_plugin *plugin = scripted("true", json_pack("{s:s}", "interactiveMode", "Always"));
    struct exec_credential credential;

    (void)state;
    assert_fails(ask(plugin, &credential), ERR_DENIED,
                 "the credential plug-in sh: its interactiveMode is Always, and standard input is "
                 "not a terminal");
    exec_plugin_free(plugin);
}

static void test_one_that_is_not_installed(void **state)
{
    struct exec_plugin *plugin = NULL;
    struct exec_credential credential;

    (void)state;
    assert_ok(
        load("{'apiVersion': '" V1 "', 'installHint': 'see its page'}", "no-such-login", &plugin));
    assert_fails(ask(plugin, &credential), ERR_DENIED,
                 "the credential plug-in no-such-login (see its page): no-such-login: no such file "
                 "or directory");
    exec_plugin_free(plugin);
}

/* What was asked is broken off, and the program with it. */
static void break_off(struct task *self, void *arg)
{
    struct asked *asked = arg;
    struct task *asker = loop_spawn(loop_of(self), "asker", asks, asked);

    assert_ok(task_sleep(self, 20));
    task_cancel(asker);
}

static void test_one_that_waits_for_ever(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new();
    struct exec_plugin *plugin = scripted("exec sleep 1000", json_object());
    struct asked asked = {.plugin = plugin};

    (void)state;
    loop_spawn(loop, "impatient", break_off, &asked);
    loop_run(loop);
    assert_int_equal(err_kind(asked.err), ERR_CANCELED);
    err_free(asked.err);
    exec_plugin_free(plugin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_a_long_list),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_what_it_is_told),
        cmocka_unit_test(test_one_that_needs_a_terminal),
        cmocka_unit_test(test_one_that_is_not_installed),
        cmocka_unit_test(test_one_that_waits_for_ever),
    };

    assert_non_null(freopen("/dev/null", "r", stdin)); /* a person may have started this */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
