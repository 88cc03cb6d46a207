#include "lib/http/probes.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/http/exec_probe.h"
#include "lib/rt/thread_pool.h"
#include "lib/rt/wait.h"
#include "test/unit/lib/http/on_loop.h"
#include "test/unit/lib/http/strangers.h"

struct program {
    bool ready;
    unsigned refreshed;
};

static struct metric turns = {.name = "test_turns", .help = "Turns.", .type = METRIC_GAUGE};
static struct metric *const metrics[] = {&turns};

static struct err *ready(void *ctx)
{
    const struct program *program = ctx;

    return program->ready ? NULL : err_new(ERR_UNAVAILABLE, "not synced yet");
}

static void refresh(void *ctx)
{
    struct program *program = ctx;

    metric_set(&turns, ++program->refreshed);
}

/* ---- the end points ---- */

static void probe(struct task *self, struct on_loop *env)
{
    struct program program = {false, 0};
    CLEANUP(freep) char *address = free_address();
    struct probes_config config = {
        .address = address,
        .metrics = metrics,
        .n_metrics = COUNT_OF(metrics),
        .ready = ready,
        .refresh = refresh,
        .ctx = &program,
    };
    const struct {
        const char *path;
        bool ready;
        int status;
        const char *body;
    } rows[] = {
        {"/healthz", false, 200, "ok\n"},
        {"/readyz", false, 503, "not synced yet\n"},
        {"/readyz", true, 200, "ok\n"},
        {"/metrics", true, 200,
         "# HELP test_turns Turns.\n# TYPE test_turns gauge\ntest_turns 1\n"},
        {"/metrics", true, 200,
         "# HELP test_turns Turns.\n# TYPE test_turns gauge\ntest_turns 2\n"},
        {"/", true, 404, "GET /: no such path\n"},
    };
    struct probes *probes;

    assert_ok(probes_new(env->loop, &config, &probes));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(http_response_finip) struct http_response response = {0};
        CLEANUP(freep) char *url = mem_printf("http://%s%s", config.address, rows[i].path);
        struct http_request request = {.url = url, .deadline = loop_deadline(env->loop, 5000)};

        program.ready = rows[i].ready;
        assert_ok(http_exchange(self, env->transport, &request, &response));
        assert_int_equal(response.status, rows[i].status);
        assert_string_equal(response.body, rows[i].body);
    }
    probes_close(self, probes);
    metrics_clear(metrics, COUNT_OF(metrics));
}

static void test_end_points(void **state)
{
    (void)state;
    run_on_loop(NULL, probe, NULL);
}

static void look_for_metrics(struct task *self, struct on_loop *env)
{
    struct program program = {true, 0};
    CLEANUP(freep) char *address = free_address();
    CLEANUP(freep) char *url = mem_printf("http://%s/metrics", address);
    CLEANUP(http_response_finip) struct http_response response = {0};
    struct probes_config config = {.address = address, .ready = ready, .ctx = &program};
    struct http_request request = on_loop_request(env, "GET", url, 5000);
    struct probes *probes;

    assert_ok(probes_new(env->loop, &config, &probes));
    assert_ok(http_exchange(self, env->transport, &request, &response));
    assert_int_equal(response.status, 404);
    probes_close(self, probes);
}

static void test_metrics_may_be_elsewhere(void **state)
{
    (void)state;
    run_on_loop(NULL, look_for_metrics, NULL);
}

/* ---- strangers ---- */

enum { STRANGERS = 200 };

static void probe_among_strangers(struct task *self, struct on_loop *env)
{
    struct program program = {true, 0};
    CLEANUP(freep) char *address = free_address();
    CLEANUP(freep) char *url = mem_printf("http://%s/healthz", address);
    CLEANUP(http_response_finip) struct http_response response = {0};
    struct probes_config config = {.address = address, .ready = ready, .ctx = &program};
    struct probes *probes;
    int strangers[STRANGERS];

    assert_ok(probes_new(env->loop, &config, &probes));
    for (size_t i = 0; i < STRANGERS; i++)
        strangers[i] =
            connect_and_say((unsigned)strtoul(strrchr(address, ':') + 1, NULL, 10), env->ctx);
    struct http_request request = {.url = url, .deadline = loop_deadline(env->loop, 2000)};
    assert_ok(http_exchange(self, env->transport, &request, &response));
    assert_string_equal(response.body, "ok\n");
    for (size_t i = 0; i < STRANGERS; i++)
        close(strangers[i]);
    probes_close(self, probes);
}

static void test_strangers_keep_no_probe_waiting(void **state)
{
    char nothing[] = "", half_a_request[] = "GET /healthz HTTP/1.1\r\nHost: h\r\n";

    (void)state;
    run_on_loop(NULL, probe_among_strangers, nothing);
    run_on_loop(NULL, probe_among_strangers, half_a_request);
}

/* ---- two of them on a machine ---- */

static struct err *ask_health(struct task *self, struct on_loop *env, const char *address)
{
    CLEANUP(freep) char *url = mem_printf("http://%s/healthz", address);
    CLEANUP(http_response_finip) struct http_response response = {0};
    struct http_request request = on_loop_request(env, "GET", url, 2000);

    TRY(http_exchange(self, env->transport, &request, &response));
    assert_string_equal(response.body, "ok\n");
    return NULL;
}

static void wait_for_a_port(struct task *self, struct on_loop *env)
{
    struct program program = {true, 0};
    CLEANUP(freep) char *address = free_address();
    CLEANUP(freep) char *fault = mem_printf("cannot listen on %s: Address already in use", address);
    struct probes_config config = {.address = address, .ready = ready, .ctx = &program};
    struct probes *first, *second;

    assert_ok(probes_new(env->loop, &config, &first));
    assert_fails(probes_new(env->loop, &config, &second), ERR_BUSY, fault);
    config.patient = true;
    assert_ok(probes_new(env->loop, &config, &second));
    assert_ok(ask_health(self, env, address));
    probes_close(self, first);
    for (struct err *err; (err = ask_health(self, env, address)); err_free(err))
        assert_ok(task_sleep(self, 20));
    probes_close(self, second);

    assert_ok(probes_new(env->loop, &config, &first));
    assert_ok(probes_new(env->loop, &config, &second));
    probes_close(self, second); /* while it waits */
    probes_close(self, first);
}

static void test_a_patient_one_waits_for_its_port(void **state)
{
    (void)state;
    run_on_loop(NULL, wait_for_a_port, NULL);
}

/* ---- kubelet's exec probes ---- */

struct ask {
    const char *address, *path;
    int status;
};

static void ask(void *arg)
{
    struct ask *question = arg;

    question->status = exec_probe(question->address, question->path);
}

static void ask_by_socket(struct task *self, struct on_loop *env)
{
    char folder[] = "/tmp/test_probes.XXXXXX";
    struct program program = {false, 0};
    struct thread_pool *pool = thread_pool_new(env->loop, 1, 1);
    struct probes *probes;

    assert_non_null(mkdtemp(folder));
    CLEANUP(freep) char *address = mem_printf("unix://%s/health.sock", folder);
    struct probes_config config = {.address = address, .ready = ready, .ctx = &program};
    assert_ok(probes_new(env->loop, &config, &probes));
    const struct {
        const char *address, *path;
        bool ready;
        int status;
    } rows[] = {
        {address, "/healthz", false, 0},      {address, "/readyz", false, 1},
        {address, "/readyz", true, 0},        {address, "/nowhere", true, 1},
        {"127.0.0.1:1", "/healthz", true, 1}, {"unix:///no/such/socket", "/healthz", true, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct ask question = {rows[i].address, rows[i].path, -1};

        program.ready = rows[i].ready;
        assert_ok(thread_pool_run(self, pool, ask, &question));
        assert_int_equal(question.status, rows[i].status);
    }
    probes_close(self, probes);
    thread_pool_free(pool);
    unlink(address + strlen("unix://"));
    rmdir(folder);
}

static void test_exec_probes_ask_by_a_socket(void **state)
{
    (void)state;
    run_on_loop(NULL, ask_by_socket, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end_points),
        cmocka_unit_test(test_metrics_may_be_elsewhere),
        cmocka_unit_test(test_strangers_keep_no_probe_waiting),
        cmocka_unit_test(test_a_patient_one_waits_for_its_port),
        cmocka_unit_test(test_exec_probes_ask_by_a_socket),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
