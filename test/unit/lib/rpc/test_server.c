/* Listening, and closing with calls under way. */
#include "lib/rpc/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/base/alloc.h"
#include "test/unit/lib/rpc/bench.h"

/* ---- closing ---- */

/* Returns when no more calls are taken. */
static void close_the_server(struct bench *bench)
{
    loop_post(bench->loop, bench_begin_close, bench);
    while (access(bench->path, F_OK) == 0)
        sched_yield();
}

static void ask_then_close_then_release(struct bench *bench)
{
    struct client_call *calls[] = {
        bench_begin(bench, ORDER(WAIT, NO_TEXT), LONG_MS),
        bench_begin(bench, ORDER(WAIT_UNINTERRUPTIBLE, NO_TEXT), LONG_MS)};

    bench_wait_until_started(bench, 2);
    close_the_server(bench);
    loop_post(bench->loop, bench_release, bench);
    bench_end(bench, calls[0]);
    bench_end(bench, calls[1]);
}

/* The server hangs up after its last answer; a caller that writes just then (a window update) sees
 * a broken connection before it reads the answer. */
static void expect_answer(const struct bench *bench, size_t i, int status, const char *text)
{
    if (bench->replies[i].status != 14 || !strstr(bench->replies[i].text, "Broken pipe"))
        expect_status(bench, i, status, text);
}

static void test_closing_lets_calls_end(void **state)
{
    struct bench *bench = *state;

    bench_run(bench, ask_then_close_then_release);
    expect_answer(bench, 0, 0, "");
    expect_answer(bench, 1, 0, "");
    assert_int_equal(bench->n_cancelled, 0);
    assert_int_equal(bench->n_finished_well, 2);
}

static void ask_then_close(struct bench *bench)
{
    struct client_call *calls[40];

    for (size_t i = 0; i < COUNT_OF(calls); i++)
        calls[i] = bench_begin(bench, ORDER(WAIT, NO_TEXT), LONG_MS);
    bench_wait_until_started(bench, COUNT_OF(calls));
    loop_post(bench->loop, bench_begin_close, bench);
    for (size_t i = 0; i < COUNT_OF(calls); i++)
        bench_end(bench, calls[i]);
}

static void test_closing_by_force(void **state)
{
    struct bench *bench = *state;

    bench->grace_ms = 0;
    bench_run(bench, ask_then_close);
    for (size_t i = 0; i < 40; i++)
        expect_answer(bench, i, 14, "the server is stopping");
    assert_int_equal(bench->n_cancelled, 40);
    assert_int_equal(bench->n_finished_by_kind[ERR_UNAVAILABLE], 40);
}

static void ask_the_stubborn_then_close(struct bench *bench)
{
    struct client_call *call = bench_begin(bench, ORDER(WAIT_UNINTERRUPTIBLE, NO_TEXT), LONG_MS);

    bench_wait_until_started(bench, 1);
    loop_post(bench->loop, bench_begin_close, bench);
    bench_end(bench, call); /* cut off before its handler ends */
    loop_post(bench->loop, bench_release, bench);
}

static void test_a_handler_that_does_not_end_is_waited_for(void **state)
{
    struct bench *bench = *state;

    bench->grace_ms = 0;
    bench_run(bench, ask_the_stubborn_then_close);
    assert_int_not_equal(bench->replies[0].status, 0);
    assert_int_equal(bench->n_finished_well, 1);
}

static void close_then_ask(struct bench *bench)
{
    bench_end(bench, bench_begin(bench, ORDER(ANSWER, NO_TEXT), LONG_MS));
    close_the_server(bench);
    bench_end(bench, bench_begin(bench, ORDER(ANSWER, NO_TEXT), LONG_MS));
}

/* UNAVAILABLE, or CANCELLED if the connection still stood. */
static void test_a_closed_server_takes_no_calls(void **state)
{
    struct bench *bench = *state;

    bench_run(bench, close_then_ask);
    expect_report(bench, 0, "");
    assert_true(bench->replies[1].status == 14 || bench->replies[1].status == 1);
    assert_int_equal(bench->n_finished, 1);
}

/* ---- listening ---- */

static void ask_for_an_answer(struct bench *bench)
{
    bench_end(bench, bench_begin(bench, ORDER(ANSWER, NO_TEXT), LONG_MS));
}

static void test_a_socket_left_behind_is_replaced(void **state)
{
    struct bench *bench = *state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    strncpy(address.sun_path, bench->path, sizeof address.sun_path - 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    bench_run(bench, ask_for_an_answer);
    expect_report(bench, 0, "");
}

static void expect_refusal(struct bench *bench, const char *const *endpoints, const char *reason)
{
    struct rpc_server *server = NULL;
    CLEANUP(err_freep) struct err *err = bench_new_server(bench, endpoints, &server);

    assert_null(server);
    assert_non_null(err);
    if (!strstr(err_message(err), reason))
        fail_msg("expected \"%s\", got \"%s\"", reason, err_message(err));
}

static void test_a_file_in_the_way_is_left_alone(void **state)
{
    struct bench *bench = *state;
    const char *const endpoints[] = {bench->path, NULL};

    close(open(bench->path, O_CREAT | O_WRONLY, 0600));
    expect_refusal(bench, endpoints, "exists and is not a socket");
    assert_int_equal(unlink(bench->path), 0);
}

static void test_one_bad_endpoint_of_two(void **state)
{
    struct bench *bench = *state;
    const char *const endpoints[] = {bench->path, "tcp://127.0.0.1:1", NULL};

    expect_refusal(bench, endpoints, "tcp://127.0.0.1:1");
    assert_int_equal(access(bench->path, F_OK), -1);
}

static void start_a_second_server(void *arg)
{
    struct bench *bench = arg;
    const char *const endpoints[] = {bench->path, NULL};
    struct stat stat_of;

    assert_int_equal(stat(bench->path, &stat_of), 0);
    assert_int_equal(stat_of.st_mode, S_IFSOCK | 0660);
    expect_refusal(bench, endpoints, "another process is listening on it");
}

static void ask_after_that(struct bench *bench)
{
    loop_post(bench->loop, start_a_second_server, bench);
    bench_end(bench, bench_begin(bench, ORDER(ANSWER, NO_TEXT), LONG_MS));
}

static void test_a_second_server_is_refused(void **state)
{
    struct bench *bench = *state;

    bench_run(bench, ask_after_that);
    expect_report(bench, 0, "");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_closing_lets_calls_end),
        TEST(test_closing_by_force),
        TEST(test_a_handler_that_does_not_end_is_waited_for),
        TEST(test_a_closed_server_takes_no_calls),
        TEST(test_a_socket_left_behind_is_replaced),
        TEST(test_a_file_in_the_way_is_left_alone),
        TEST(test_one_bad_endpoint_of_two),
        TEST(test_a_second_server_is_refused),
    };

    alarm(120); /* nothing here waits that long, unless for ever */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
