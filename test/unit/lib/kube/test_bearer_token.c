/* Plug-ins are shell scripts here, which count in a file how often they were run. */
#include "lib/kube/bearer_token.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/file.h"
#include "lib/base/timestamp.h"
#include "test/unit/expect.h"

enum { MINUTE_US = 60 * 1000 * 1000 };

static char counter[] = "/tmp/test_bearer_token.XXXXXX";

static int make_counter(void **state)
{
    int fd = mkstemp(counter);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_counter(void **state)
{
    (void)state;
    return unlink(counter);
}

static size_t runs(void)
{
    CLEANUP(freep) char *text = NULL;
    size_t length;

    assert_ok(file_read(counter, 1024, &text, &length));
    return length;
}

/* Its token is "t" and how often it was run, in dots; it expires so much later. */
static struct exec_plugin *plugin_of(int64_t lifetime_us)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new(); /* for its clock */
    char expires[TIMESTAMP_SIZE];
    struct exec_plugin *plugin = NULL;

    timestamp_format(loop_wall_us(loop) + lifetime_us, expires);
    CLEANUP(freep)
    char *script = mem_printf("echo -n . >>%s\nsleep 0.01\ncat <<END\n"
                              "{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"status\": "
                              "{\"token\": \"t$(cat %s)\", \"expirationTimestamp\": \"%s\"}}\nEND",
                              counter, counter, expires);
    CLEANUP(json_decrefp)
    json_t *exec = json_pack("{s:s, s:[s, s]}", "apiVersion", "client.authentication.k8s.io/v1",
                             "args", "-c", script);

    assert_int_equal(truncate(counter, 0), 0);
    assert_ok(exec_plugin_load(exec, "sh", (struct exec_plugin_cluster){0}, &plugin));
    return plugin;
}

static void play(const struct kube_config *config, task_fn *user, unsigned n_users)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new();
    struct bearer_token *token = bearer_token_new(loop, config);

    for (unsigned i = 0; i < n_users; i++)
        loop_spawn(loop, "user", user, token);
    loop_run(loop);
    bearer_token_unref(token);
}

static void expect(struct task *self, struct bearer_token *token, const char *text)
{
    assert_ok(bearer_token_freshen(self, token));
    assert_string_equal(bearer_token_text(token), text);
}

/* ---- a plug-in's ---- */

static void use_one(struct task *self, void *arg)
{
    struct bearer_token *token = arg;

    expect(self, token, "t.");
    expect(self, token, "t.");
}

static void test_all_users_share_a_run(void **state)
{
    struct kube_config config = {.plugin = plugin_of(10 * (int64_t)MINUTE_US)};

    (void)state;
    play(&config, use_one, 5);
    assert_int_equal(runs(), 1);
    kube_config_fini(&config);
}

static void use_expired(struct task *self, void *arg)
{
    struct bearer_token *token = arg;

    expect(self, token, "t.");
    expect(self, token, "t..");
}

static void test_one_that_has_expired(void **state)
{
    struct kube_config config = {.plugin = plugin_of(-MINUTE_US)};

    (void)state;
    play(&config, use_expired, 1);
    assert_int_equal(runs(), 2);
    kube_config_fini(&config);
}

/* Two requests with one token are refused: only the first has it had anew. */
static void use_refused(struct task *self, void *arg)
{
    struct bearer_token *token = arg;

    assert_ok(bearer_token_freshen(self, token));
    unsigned serial = bearer_token_serial(token);
    assert_true(bearer_token_refused(token, serial));
    expect(self, token, "t..");
    assert_true(bearer_token_refused(token, serial));
    expect(self, token, "t..");
}

static void test_one_that_was_refused(void **state)
{
    struct kube_config config = {.plugin = plugin_of(10 * (int64_t)MINUTE_US)};

    (void)state;
    play(&config, use_refused, 1);
    assert_int_equal(runs(), 2);
    kube_config_fini(&config);
}

/* ---- others ---- */

static void use_fixed(struct task *self, void *arg)
{
    struct bearer_token *token = arg;

    expect(self, token, "fixed");
    assert_false(bearer_token_refused(token, bearer_token_serial(token)));
}

static void use_none(struct task *self, void *arg)
{
    struct bearer_token *token = arg;

    assert_ok(bearer_token_freshen(self, token));
    assert_null(bearer_token_text(token));
}

static void test_a_fixed_one_and_none(void **state)
{
    char fixed[] = "fixed";

    (void)state;
    play(&(struct kube_config){.token = fixed}, use_fixed, 1);
    play(&(struct kube_config){0}, use_none, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_users_share_a_run),
        cmocka_unit_test(test_one_that_has_expired),
        cmocka_unit_test(test_one_that_was_refused),
        cmocka_unit_test(test_a_fixed_one_and_none),
    };

    return cmocka_run_group_tests(tests, make_counter, remove_counter);
}
