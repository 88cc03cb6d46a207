#include "test/unit/lib/rpc/bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/base/alloc.h"

/* ---- the server's side ---- */

/* Waits until released. */
static struct err *wait_for_release(struct task *self, struct bench *bench)
{
    struct err *err = NULL;

    if (++bench->n_waiting > bench->most_waiting)
        bench->most_waiting = bench->n_waiting;
    sem_post(&bench->started);
    while (!bench->released && !err)
        err = wait_for_change(self, &bench->changed, TIMER_NEVER);
    bench->n_waiting--;
    if (err)
        bench->n_cancelled++;
    return err;
}

static struct err *work(struct task *self, struct rpc_call *call, const void *request,
                        void *response)
{
    struct bench *bench = call->ctx;
    const Bench__Order *order = request;
    Bench__Report *report = response;

    assert_string_equal(call->method, WORK);
    uint64_t now = loop_now(bench->loop);
    bench->time_left = call->deadline > now ? call->deadline - now : 0;
    switch (order->kind) {
    case BENCH__ORDER__KIND__ANSWER:
        report->text = arena_strdup(call->arena, order->text);
        return NULL;
    case BENCH__ORDER__KIND__ANSWER_NULL:
        report->text = NULL;
        return NULL;
    case BENCH__ORDER__KIND__ANSWER_LARGE:
        report->text = arena_alloc(call->arena, (size_t)order->number + 1);
        memset(report->text, 'x', (size_t)order->number);
        return NULL;
    case BENCH__ORDER__KIND__FAIL:
        return err_new((enum err_kind)order->number, "%s", order->text);
    case BENCH__ORDER__KIND__WAIT:
        return wait_for_release(self, bench);
    default:
        sem_post(&bench->started);
        while (!bench->released)
            wait_uninterruptible(self, &bench->changed);
        return NULL;
    }
}

static void note_finished(void *ctx, const struct rpc_outcome *outcome)
{
    struct bench *bench = ctx;

    assert_true(outcome->duration_ms < LONG_MS);
    free(bench->last_method);
    bench->last_method = mem_strdup(outcome->method);
    bench->n_finished++;
    bench->n_finished_unread += !outcome->request;
    if (outcome->err)
        bench->n_finished_by_kind[err_kind(outcome->err)]++;
    else
        bench->n_finished_well++;
}

struct err *bench_new_server(struct bench *bench, const char *const *endpoints,
                             struct rpc_server **ret_server)
{
    static const struct rpc_method methods[] = {{"Work", work}};
    struct rpc_service service = {&bench__bench__descriptor, methods, COUNT_OF(methods), bench};
    struct rpc_server_config config = {
        .endpoints = endpoints,
        .services = &service,
        .n_services = 1,
        .max_calls = bench->max_calls,
        .max_duration_ms = bench->max_duration_ms,
        .finished = note_finished,
        .finished_ctx = bench,
    };

    return rpc_server_new(bench->loop, &config, ret_server);
}

static void close_server(struct task *self, void *arg)
{
    struct bench *bench = arg;

    if (bench->server)
        rpc_server_close(self, TAKE_PTR(bench->server), bench->grace_ms);
}

static void main_task(struct task *self, void *arg)
{
    struct bench *bench = arg;

    while (!bench->scripted)
        wait_uninterruptible(self, &bench->changed);
    close_server(self, bench);
}

/* ---- what scripts can do to it ---- */

static void end_script(void *arg)
{
    struct bench *bench = arg;

    bench->scripted = true;
    waiters_wake(&bench->changed);
}

void bench_release(void *arg)
{
    struct bench *bench = arg;

    bench->released = true;
    waiters_wake(&bench->changed);
}

void bench_begin_close(void *arg)
{
    struct bench *bench = arg;

    loop_spawn(bench->loop, "close", close_server, bench);
}

struct client_call *bench_begin(struct bench *bench, Bench__Order order, unsigned timeout_ms)
{
    size_t size = bench__order__get_packed_size(&order);
    CLEANUP(freep) void *bytes = mem_alloc(size);

    bench__order__pack(&order, bytes);
    return client_begin(bench->client, WORK, bytes, size, timeout_ms);
}

void bench_end(struct bench *bench, struct client_call *call)
{
    client_end(call, &bench->replies[bench->n_replies++]);
}

void bench_wait_until_started(struct bench *bench, unsigned n)
{
    while (n--)
        sem_wait(&bench->started);
}

/* ---- a test's frame ---- */

int bench_setup(void **state)
{
    struct bench *bench = mem_alloc(sizeof *bench);

    snprintf(bench->folder, sizeof bench->folder, "/tmp/rpc-XXXXXX");
    if (!mkdtemp(bench->folder))
        return -1;
    bench->path = mem_printf("%s/s", bench->folder);
    bench->grace_ms = LONG_MS;
    bench->loop = loop_new();
    waiters_init(&bench->changed);
    sem_init(&bench->started, 0, 0);
    *state = bench;
    return 0;
}

int bench_teardown(void **state)
{
    struct bench *bench = *state;

    for (size_t i = 0; i < bench->n_replies; i++)
        client_reply_fini(&bench->replies[i]);
    loop_free(bench->loop);
    sem_destroy(&bench->started);
    free(bench->last_method);
    free(bench->path);
    int failed = rmdir(bench->folder); /* the socket is gone */
    free(bench);
    return failed;
}

static void *script_thread(void *arg)
{
    struct bench *bench = arg;

    bench->client = client_new(bench->path);
    bench->script(bench);
    client_free(bench->client);
    loop_post(bench->loop, end_script, bench);
    return NULL;
}

/* Both sides, until both have ended and the server is closed. */
void bench_run(struct bench *bench, void (*script)(struct bench *bench))
{
    const char *const endpoints[] = {bench->path, NULL};
    CLEANUP(err_freep) struct err *err = bench_new_server(bench, endpoints, &bench->server);
    pthread_t thread;

    if (err)
        fail_msg("%s", err_message(err));
    bench->script = script;
    loop_spawn(bench->loop, "main", main_task, bench);
    pthread_create(&thread, NULL, script_thread, bench);
    loop_run(bench->loop);
    pthread_join(thread, NULL);
}

void expect_status(const struct bench *bench, size_t i, int status, const char *text)
{
    assert_true(i < bench->n_replies);
    if (bench->replies[i].status != status || !strstr(bench->replies[i].text, text))
        fail_msg("reply %zu: expected %d \"%s\", got %d \"%s\"", i, status, text,
                 bench->replies[i].status, bench->replies[i].text);
}

void expect_report(const struct bench *bench, size_t i, const char *text)
{
    expect_status(bench, i, 0, "");
    Bench__Report *report =
        bench__report__unpack(NULL, bench->replies[i].size, bench->replies[i].message);

    assert_non_null(report);
    assert_string_equal(report->text, text);
    bench__report__free_unpacked(report, NULL);
}
