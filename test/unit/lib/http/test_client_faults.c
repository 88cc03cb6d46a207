/* The client when a connection breaks, nobody answers, time runs out or its task is cancelled. */
#include "lib/http/client.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "lib/base/alloc.h"
#include "lib/rt/group.h"
#include "test/unit/lib/http/on_loop.h"
#include "test/unit/lib/http/raw_server.h"

enum { LONGEST = 4096 };

static void serve_ok(int fd, unsigned n, void *ctx)
{
    char request[LONGEST];

    (void)n, (void)ctx;
    while (raw_read_request(fd, request, sizeof request))
        raw_write(fd, RAW_OK);
}

/* ---- connections that fail ---- */

static void connect_to_nobody(struct task *self, struct on_loop *env)
{
    struct http_request request = on_loop_request(env, NULL, "http://127.0.0.1:1/x", 5000);
    struct http_response response;
    struct err *err = http_exchange(self, env->transport, &request, &response);

    assert_non_null(err);
    assert_int_equal(err_kind(err), ERR_NOT_SENT);
    assert_non_null(
        strstr(err_message(err), "GET http://127.0.0.1:1/x: not sent: Failed to connect"));
    err_free(err);
}

static void test_nobody_listens(void **state)
{
    (void)state;
    run_on_loop(NULL, connect_to_nobody, NULL);
}

/* An answer may have named it, as where an operation is to be followed. */
static void ask_for_a_file(struct task *self, struct on_loop *env)
{
    struct http_request request = on_loop_request(env, NULL, "file:///proc/self/environ", 5000);
    struct http_response response;
    CLEANUP(err_freep) struct err *err = http_exchange(self, env->transport, &request, &response);

    assert_non_null(err);
    assert_int_equal(err_kind(err), ERR_NOT_SENT);
    assert_non_null(strstr(err_message(err), "Protocol \"file\" not supported"));
}

static void test_a_file_is_no_url(void **state)
{
    (void)state;
    run_on_loop(NULL, ask_for_a_file, NULL);
}

struct dying {
    char methods[LONGEST]; /* of the requests that came, in order */
};

/* Answers the first request of a connection; from the second connection on all of them. */
static void serve_first_only(int fd, unsigned n, void *ctx)
{
    struct dying *dying = ctx;
    char request[LONGEST];

    for (unsigned i = 0; raw_read_request(fd, request, sizeof request); i++) {
        size_t length = strlen(dying->methods);

        snprintf(dying->methods + length, sizeof dying->methods - length, "%.*s ",
                 (int)strcspn(request, " "), request);
        if (n == 0 && i == 1)
            return;
        raw_write(fd, RAW_OK);
    }
}

/* A second request on a connection that the server closes when it has read it. */
static void lose_an_answer(struct task *self, struct on_loop *env)
{
    const char *method = env->ctx;
    struct dying dying = {""};
    struct raw_server *server = raw_server_start(serve_first_only, &dying);
    CLEANUP(http_response_finip) struct http_response first = {0}, second = {0};
    CLEANUP(freep)
    char *fault = mem_printf("%s %s: the connection was closed before an answer arrived", method,
                             raw_server_url(server));
    struct http_request request = on_loop_request(env, NULL, raw_server_url(server), 5000);

    assert_ok(http_exchange(self, env->transport, &request, &first));
    request.method = method;
    struct err *err = http_exchange(self, env->transport, &request, &second);
    if (strcmp(method, "GET") == 0)
        assert_ok(err);
    else
        assert_fails(err, ERR_UNAVAILABLE, fault);
    raw_server_stop(server);
    CLEANUP(freep)
    char *expected = mem_printf(strcmp(method, "GET") == 0 ? "GET %s GET " : "GET %s ", method);
    assert_string_equal(dying.methods, expected);
}

static void test_only_a_read_is_repeated(void **state)
{
    char methods[][8] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(methods); i++)
        run_on_loop(NULL, lose_an_answer, methods[i]);
}

static void hear_and_hang_up(int fd, unsigned n, void *ctx)
{
    char request[LONGEST];

    (void)n, (void)ctx;
    raw_read_request(fd, request, sizeof request);
}

/* The server may have carried it out; "not sent" would have it sent again. */
static void hear_no_answer(struct task *self, struct on_loop *env)
{
    struct raw_server *server = raw_server_start(hear_and_hang_up, NULL);
    struct http_request request = on_loop_request(env, "PUT", raw_server_url(server), 5000);
    struct http_response response;
    CLEANUP(err_freep) struct err *err = http_exchange(self, env->transport, &request, &response);

    assert_non_null(err);
    assert_int_equal(err_kind(err), ERR_UNAVAILABLE);
    raw_server_stop(server);
}

static void test_what_got_no_answer_was_sent(void **state)
{
    (void)state;
    run_on_loop(NULL, hear_no_answer, NULL);
}

/* ---- requests that may be sent no longer ---- */

static unsigned times_asked;

/* Counts the requests that come. */
static void serve_counted(int fd, unsigned n, void *ctx)
{
    atomic_uint *came = ctx;
    char request[LONGEST];

    (void)n;
    while (raw_read_request(fd, request, sizeof request)) {
        atomic_fetch_add(came, 1);
        raw_write(fd, RAW_OK);
    }
}

static bool first_time_only(void *ctx)
{
    (void)ctx;
    return ++times_asked == 1;
}

static void ask_for_leave(struct task *self, struct on_loop *env)
{
    CLEANUP(http_response_finip) struct http_response first = {0}, second = {0};
    atomic_uint came = 0;
    struct raw_server *server = raw_server_start(serve_counted, &came);
    struct http_request request = on_loop_request(env, "PUT", raw_server_url(server), 5000);
    CLEANUP(freep)
    char *fault =
        mem_printf("PUT %s: not sent: the request is no longer permitted", raw_server_url(server));

    times_asked = 0;
    request.may_send = first_time_only;
    assert_ok(http_exchange(self, env->transport, &request, &first));
    assert_fails(http_exchange(self, env->transport, &request, &second), ERR_CANCELED, fault);
    assert_int_equal(times_asked, 2);
    raw_server_stop(server);
    assert_int_equal(came, 1);
}

static void test_leave_is_asked_for_right_before_sending(void **state)
{
    (void)state;
    run_on_loop(NULL, ask_for_leave, NULL);
}

/* ---- time and cancellation ---- */

/* The first connection gets no answer; the others do. */
static void serve_late(int fd, unsigned n, void *ctx)
{
    char request[LONGEST];

    (void)ctx;
    if (!raw_read_request(fd, request, sizeof request))
        return;
    if (n > 0)
        raw_write(fd, RAW_OK);
    raw_wait_closed(fd);
}

static void run_out_of_time(struct task *self, struct on_loop *env)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    struct raw_server *server = raw_server_start(serve_late, NULL);
    struct http_request request = on_loop_request(env, "PUT", raw_server_url(server), 500);
    CLEANUP(freep)
    char *fault = mem_printf("PUT %s: timed out", raw_server_url(server));

    CLEANUP(freep)
    char *not_sent =
        mem_printf("PUT %s: not sent: no connection was available in time", raw_server_url(server));

    assert_fails(http_exchange(self, env->transport, &request, &response), ERR_TIMEOUT, fault);
    assert_true(loop_now(env->loop) >= request.deadline);
    assert_fails(http_exchange(self, env->transport, &request, &response), ERR_NOT_SENT, not_sent);

    request.deadline = loop_deadline(env->loop, 5000);
    assert_ok(http_exchange(self, env->transport, &request, &response));
    assert_string_equal(response.body, "ok");
    assert_int_equal(raw_server_connections(server), 2); /* the first one was not used again */
    raw_server_stop(server);
}

static void test_a_deadline_ends_the_connection(void **state)
{
    (void)state;
    run_on_loop(NULL, run_out_of_time, NULL);
}

struct victim {
    struct on_loop *env;
    const char *url;
    struct err *err;
};

static void exchange_for_ever(struct task *self, void *arg)
{
    struct victim *victim = arg;
    struct http_request request = {.url = victim->url, .deadline = TIMER_NEVER};
    struct http_response response;

    victim->err = http_exchange(self, victim->env->transport, &request, &response);
}

struct silence {
    atomic_bool came, closed;
};

static void serve_nothing(int fd, unsigned n, void *ctx)
{
    char request[LONGEST];
    struct silence *silence = ctx;

    (void)n;
    atomic_store(&silence->came, raw_read_request(fd, request, sizeof request));
    raw_wait_closed(fd);
    atomic_store(&silence->closed, true);
}

static void wait_for(struct task *self, const atomic_bool *flag)
{
    while (!atomic_load(flag))
        assert_ok(task_sleep(self, 1));
}

static void cancel_in_flight(struct task *self, struct on_loop *env)
{
    struct silence silence = {false, false};
    struct raw_server *server = raw_server_start(serve_nothing, &silence);
    struct victim victims[2] = {{.env = env, .url = raw_server_url(server)},
                                {.env = env, .url = raw_server_url(server)}};
    struct task_group group;

    group_init(&group, env->loop);
    group_spawn(&group, "in flight", exchange_for_ever, &victims[0]);
    wait_for(self, &silence.came);
    group_spawn(&group, "not begun", exchange_for_ever, &victims[1]);
    group_close(self, &group);
    wait_for(self, &silence.closed);
    raw_server_stop(server);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(err_kind(victims[i].err), ERR_CANCELED);
        err_free(victims[i].err);
    }
}

static void test_cancelling_ends_the_connection(void **state)
{
    (void)state;
    run_on_loop(NULL, cancel_in_flight, NULL);
}

/* As a program ends: its tasks are cancelled, and the loop stops at once. */
static void end_in_flight(struct task *self, struct on_loop *env)
{
    struct silence silence = {false, false};
    struct raw_server *server = raw_server_start(serve_nothing, &silence);
    struct victim victims[2] = {{.env = env, .url = raw_server_url(server)},
                                {.env = env, .url = raw_server_url(server)}};
    struct task_group group;

    group_init(&group, env->loop);
    group_spawn(&group, "in flight", exchange_for_ever, &victims[0]);
    wait_for(self, &silence.came);
    group_spawn(&group, "not begun", exchange_for_ever, &victims[1]);
    group_close(self, &group);
    http_client_free(TAKE_PTR(env->client));
    loop_stop(env->loop);
    raw_server_stop(server);
    err_free(victims[0].err);
    err_free(victims[1].err);
}

static void test_a_client_may_go_when_the_loop_stops(void **state)
{
    (void)state;
    run_on_loop(NULL, end_in_flight, NULL);
}

/* With one connection, whoever waits behind it runs out of time without being sent; what is urgent
 * does not wait. */
static void wait_for_a_connection(struct task *self, struct on_loop *env)
{
    struct silence silence = {false, false};
    struct raw_server *server = raw_server_start(serve_nothing, &silence);
    struct raw_server *other = raw_server_start(serve_ok, NULL);
    struct http_request urgent = on_loop_request(env, "PUT", raw_server_url(other), 5000);
    CLEANUP(http_response_finip) struct http_response answer = {0};
    struct victim victim = {.env = env, .url = raw_server_url(server)};
    struct http_request request = on_loop_request(env, "PUT", raw_server_url(server), 50);
    struct http_response response;
    struct task_group group;
    CLEANUP(freep)
    char *fault =
        mem_printf("PUT %s: not sent: all 1 connections were in use", raw_server_url(server));

    group_init(&group, env->loop);
    group_spawn(&group, "in flight", exchange_for_ever, &victim);
    wait_for(self, &silence.came);
    assert_fails(http_exchange(self, env->transport, &request, &response), ERR_NOT_SENT, fault);
    urgent.urgent = true;
    assert_ok(http_exchange(self, env->transport, &urgent, &answer));
    group_close(self, &group);
    err_free(victim.err);
    assert_int_equal(raw_server_connections(server), 1);
    raw_server_stop(server);
    raw_server_stop(other);
}

static void test_requests_beyond_the_connections_wait(void **state)
{
    const struct http_client_config config = {.proxy = "", .max_connections = 1};

    (void)state;
    run_on_loop(&config, wait_for_a_connection, NULL);
}

/* ---- peers that vanish ---- */

/* Our end of a connection to the port. */
static int connected_socket(unsigned port)
{
    for (int fd = 3; fd < 256; fd++) {
        struct sockaddr_in peer;
        socklen_t length = sizeof peer;

        if (getpeername(fd, (struct sockaddr *)&peer, &length) == 0 && peer.sin_family == AF_INET &&
            ntohs(peer.sin_port) == port)
            return fd;
    }
    fail_msg("no connection to port %u", port);
    return -1;
}

static int option_of(int fd, int level, int option)
{
    int value = 0;
    socklen_t length = sizeof value;

    assert_int_equal(getsockopt(fd, level, option, &value, &length), 0);
    return value;
}

static void look_at_the_socket(struct task *self, struct on_loop *env)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    struct raw_server *server = raw_server_start(serve_ok, NULL);
    struct http_request request = on_loop_request(env, NULL, raw_server_url(server), 5000);

    assert_ok(http_exchange(self, env->transport, &request, &response));
    int fd = connected_socket(raw_server_port(server));
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE), 10);
    assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL), 10);
    assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 30000);
    raw_server_stop(server);
}

/* The kernel looks for dead peers, and programs that are started do not get it. */
static void test_the_options_of_a_socket(void **state)
{
    (void)state;
    run_on_loop(NULL, look_at_the_socket, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_a_file_is_no_url),
        cmocka_unit_test(test_only_a_read_is_repeated),
        cmocka_unit_test(test_what_got_no_answer_was_sent),
        cmocka_unit_test(test_leave_is_asked_for_right_before_sending),
        cmocka_unit_test(test_a_deadline_ends_the_connection),
        cmocka_unit_test(test_cancelling_ends_the_connection),
        cmocka_unit_test(test_a_client_may_go_when_the_loop_stops),
        cmocka_unit_test(test_requests_beyond_the_connections_wait),
        cmocka_unit_test(test_the_options_of_a_socket),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
