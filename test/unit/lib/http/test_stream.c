/* Streams, from a server that sends pieces, stalls, hurries and breaks off. */
#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/http/server.h"
#include "lib/rt/group.h"
#include "test/unit/lib/http/on_loop.h"
#include "test/unit/lib/http/raw_server.h"

#define HEAD "HTTP/1.1 200 OK\r\nX-Test: yes\r\n"
#define CHUNKED HEAD "Transfer-Encoding: chunked\r\n\r\n"

static struct err *open_stream(struct task *self, struct on_loop *env, const char *url, uint64_t ms,
                               struct http_response *ret_response, struct http_stream **ret_stream)
{
    struct http_request request = {.url = url, .deadline = loop_deadline(env->loop, ms)};

    return env->transport->open(env->transport, self, &request, ret_response, ret_stream);
}

static struct err *read_stream(struct task *self, struct on_loop *env, struct http_stream *stream,
                               uint64_t ms, const char **ret_data, size_t *ret_length)
{
    return stream->read(stream, self, loop_deadline(env->loop, ms), ret_data, ret_length);
}

/* Everything up to the end, or the error that comes instead. */
static struct err *read_all(struct task *self, struct on_loop *env, struct http_stream *stream,
                            struct buffer *all)
{
    const char *data;
    size_t length;

    do {
        TRY(read_stream(self, env, stream, 5000, &data, &length));
        assert_true(buffer_append(all, data, length));
    } while (length > 0);
    return NULL;
}

static void wait_for(struct task *self, const atomic_bool *flag)
{
    while (!atomic_load(flag))
        assert_ok(task_sleep(self, 1));
}

/* ---- answers that come at once ---- */

static const struct {
    const char *why, *answer;
    int status; /* 0: no answer at all */
    const char *body, *fault;
} answers[] = {
    {"all of it before anybody looks", HEAD "Content-Length: 3\r\n\r\nabc", 200, "abc", NULL},
    {"in chunks", CHUNKED "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", 200, "abcde", NULL},
    {"nothing", HEAD "Content-Length: 0\r\n\r\n", 200, "", NULL},
    {"up to the end of the connection", HEAD "\r\nabc", 200, "abc", NULL},
    {"less than was promised", HEAD "Content-Length: 5\r\n\r\nabc", 200, "abc",
     "transfer closed with 2 bytes remaining to read"},
    {"a chunk that breaks off", CHUNKED "3\r\nabc\r\n5\r\nde", 200, "abcde",
     "transfer closed with outstanding read data remaining"},
    {"no last chunk", CHUNKED "3\r\nabc\r\n", 200, "abc",
     "transfer closed with outstanding read data remaining"},
    {"nonsense in the middle", CHUNKED "3\r\nabc\r\nzz\r\n", 200, "abc",
     "Illegal or missing hexadecimal sequence in chunked-encoding"},
    {"another status", "HTTP/1.1 410 Gone\r\nX-Test: yes\r\nContent-Length: 4\r\n\r\ngone", 410,
     "gone", NULL},
    {"another status that breaks off", "HTTP/1.1 500 X\r\nContent-Length: 9\r\n\r\ngone", 0, NULL,
     "transfer closed with 5 bytes remaining to read"},
    {"no answer", "", 0, NULL, "Empty reply from server"},
};

static void serve_answers(int fd, unsigned n, void *ctx)
{
    char request[4096];

    (void)ctx;
    if (raw_read_request(fd, request, sizeof request) && n < COUNT_OF(answers))
        raw_write(fd, answers[n].answer);
}

static void get_answer(struct task *self, struct on_loop *env, const char *url, size_t i)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(http_stream_closep) struct http_stream *stream = NULL;
    CLEANUP(buffer_fini) struct buffer all = {.limit = 1000};
    CLEANUP(freep) char *open_fault = mem_printf("GET %s: %s", url, answers[i].fault);
    struct err *err = open_stream(self, env, url, 5000, &response, &stream);

    if (!answers[i].status) {
        assert_fails(err, ERR_UNAVAILABLE, open_fault);
        assert_null(stream);
        return;
    }
    assert_ok(err);
    assert_int_equal(response.status, answers[i].status);
    assert_string_equal(http_header_find(response.headers, response.n_headers, "x-test"), "yes");
    if (answers[i].status != 200) {
        assert_null(stream);
        assert_string_equal(response.body, answers[i].body);
        return;
    }
    assert_string_equal(response.body, "");
    for (int again = 0; again < 2; again++) { /* the end stays the end */
        err = read_all(self, env, stream, &all);
        if (answers[i].fault)
            assert_fails(err, ERR_UNAVAILABLE, answers[i].fault);
        else
            assert_ok(err);
        assert_string_equal(all.length ? all.data : "", answers[i].body);
    }
}

static void get_answers(struct task *self, struct on_loop *env)
{
    struct raw_server *server = raw_server_start(serve_answers, NULL);

    for (size_t i = 0; i < COUNT_OF(answers); i++)
        get_answer(self, env, raw_server_url(server), i);
    raw_server_stop(server);
}

static void test_answers_of_every_kind(void **state)
{
    (void)state;
    run_on_loop(NULL, get_answers, NULL);
}

/* ---- pieces, and pauses between them ---- */

struct pieces {
    sem_t wanted; /* posted for each piece that may be sent */
    bool reset;   /* in the end */
};

static void serve_pieces(int fd, unsigned n, void *ctx)
{
    struct pieces *pieces = ctx;
    struct linger abort_on_close = {.l_onoff = 1};
    char request[4096], piece[32];

    (void)n;
    raw_read_request(fd, request, sizeof request);
    raw_write(fd, CHUNKED);
    for (unsigned i = 0; i < 10; i++) {
        sem_wait(&pieces->wanted);
        snprintf(piece, sizeof piece, "7\r\npiece %u\r\n", i);
        raw_write(fd, piece);
    }
    if (pieces->reset)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort_on_close, sizeof abort_on_close);
    else
        raw_write(fd, "0\r\n\r\n");
}

static void read_pieces(struct task *self, struct on_loop *env)
{
    struct pieces *pieces = env->ctx;
    struct raw_server *server = raw_server_start(serve_pieces, pieces);
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(http_stream_closep) struct http_stream *stream = NULL;
    const char *data;
    size_t length;

    assert_ok(open_stream(self, env, raw_server_url(server), 5000, &response, &stream));
    for (unsigned i = 0; i < 10; i++) {
        CLEANUP(freep) char *piece = mem_printf("piece %u", i);

        assert_fails(read_stream(self, env, stream, 5, &data, &length), ERR_TIMEOUT, "timed out");
        sem_post(&pieces->wanted);
        assert_ok(read_stream(self, env, stream, 5000, &data, &length));
        assert_int_equal(length, 7);
        assert_memory_equal(data, piece, 7);
    }
    struct err *err = read_stream(self, env, stream, 5000, &data, &length);
    if (pieces->reset) {
        assert_fails(err, ERR_UNAVAILABLE, "Recv failure: Connection reset by peer");
    } else {
        assert_ok(err);
        assert_int_equal(length, 0);
    }
    raw_server_stop(server);
}

static void test_pieces_come_as_they_are_sent(void **state)
{
    struct pieces pieces = {.reset = false};

    (void)state;
    sem_init(&pieces.wanted, 0, 0);
    run_on_loop(NULL, read_pieces, &pieces);
}

static void test_a_reset_is_an_error(void **state)
{
    struct pieces pieces = {.reset = true};

    (void)state;
    sem_init(&pieces.wanted, 0, 0);
    run_on_loop(NULL, read_pieces, &pieces);
}

/* An interim answer, and a moment later the answer. */
static void serve_in_two_steps(int fd, unsigned n, void *ctx)
{
    char request[4096];

    (void)n, (void)ctx;
    raw_read_request(fd, request, sizeof request);
    raw_write(fd, "HTTP/1.1 103 Early Hints\r\nX-Test: no\r\n\r\n");
    poll(NULL, 0, 50);
    raw_write(fd, CHUNKED "3\r\nabc\r\n");
    raw_wait_closed(fd);
}

static void wait_for_the_answer(struct task *self, struct on_loop *env)
{
    struct raw_server *server = raw_server_start(serve_in_two_steps, NULL);
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(http_stream_closep) struct http_stream *stream = NULL;
    const char *data;
    size_t length;

    assert_ok(open_stream(self, env, raw_server_url(server), 5000, &response, &stream));
    assert_int_equal(response.status, 200);
    assert_string_equal(http_header_find(response.headers, response.n_headers, "X-Test"), "yes");
    assert_ok(read_stream(self, env, stream, 5000, &data, &length));
    assert_memory_equal(data, "abc", length);
    raw_server_stop(server);
}

static void test_an_interim_answer_is_none(void **state)
{
    (void)state;
    run_on_loop(NULL, wait_for_the_answer, NULL);
}

/* ---- a server that is faster than the reader ---- */

enum { MUCH = 64 * 1024 * 1024, MOST_AHEAD = 16 * 1024 * 1024 };

struct flood {
    atomic_size_t sent;
    atomic_bool closed;
};

static char nth_byte(size_t n)
{
    return (char)('a' + (n ^ n >> 13) % 26);
}

static void serve_flood(int fd, unsigned n, void *ctx)
{
    struct flood *flood = ctx;
    char request[4096], piece[8192];

    (void)n;
    raw_read_request(fd, request, sizeof request);
    CLEANUP(freep) char *head = mem_printf(HEAD "Content-Length: %d\r\n\r\n", MUCH);
    raw_write(fd, head);
    for (size_t sent = 0; sent < MUCH; sent += sizeof piece) {
        for (size_t i = 0; i < sizeof piece; i++)
            piece[i] = nth_byte(sent + i);
        if (!raw_write_bytes(fd, piece, sizeof piece))
            break;
        atomic_store(&flood->sent, sent + sizeof piece);
    }
    raw_wait_closed(fd);
    atomic_store(&flood->closed, true);
}

/* Until the server has got rid of `least` bytes, and then of nothing for a while. */
static size_t wait_until_held_up(struct task *self, const struct flood *flood, size_t least)
{
    size_t before;

    while (atomic_load(&flood->sent) < least)
        assert_ok(task_sleep(self, 1));
    do {
        before = atomic_load(&flood->sent);
        assert_ok(task_sleep(self, 100));
    } while (before != atomic_load(&flood->sent));
    return before;
}

static void drink_slowly(struct task *self, struct on_loop *env)
{
    struct flood flood = {0, false};
    struct raw_server *server = raw_server_start(serve_flood, &flood);
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(http_stream_closep) struct http_stream *stream = NULL;
    size_t total = 0, length;
    const char *data;

    assert_ok(open_stream(self, env, raw_server_url(server), 5000, &response, &stream));
    assert_in_range(wait_until_held_up(self, &flood, 1024 * 1024), 1024 * 1024, MOST_AHEAD);
    for (unsigned reads = 0; total < MUCH; reads++) {
        assert_ok(read_stream(self, env, stream, 5000, &data, &length));
        assert_in_range(length, 1, 1024 * 1024);
        for (size_t i = 0; i < length; i++)
            if (data[i] != nth_byte(total + i))
                fail_msg("byte %zu is wrong", total + i);
        total += length;
        if (reads == 2) /* and once more in the middle */
            assert_in_range(wait_until_held_up(self, &flood, total), total, total + MOST_AHEAD);
    }
    assert_int_equal(total, MUCH);
    assert_ok(read_stream(self, env, stream, 5000, &data, &length));
    assert_int_equal(length, 0);
    raw_server_stop(server);
}

static void test_a_slow_reader_holds_the_server_up(void **state)
{
    (void)state;
    run_on_loop(NULL, drink_slowly, NULL);
}

static void walk_away(struct task *self, struct on_loop *env)
{
    struct flood flood = {0, false};
    struct raw_server *server = raw_server_start(serve_flood, &flood);
    CLEANUP(http_response_finip) struct http_response response = {0};
    const bool *reads = env->ctx;
    struct http_stream *stream = NULL;
    const char *data;
    size_t length;

    assert_ok(open_stream(self, env, raw_server_url(server), 5000, &response, &stream));
    wait_until_held_up(self, &flood, 1);
    if (*reads) /* asks for more, and does not wait for it */
        for (int i = 0; i < 2; i++)
            err_free(read_stream(self, env, stream, 1, &data, &length));
    http_stream_close(stream);
    wait_for(self, &flood.closed);
    raw_server_stop(server);
}

static void test_closing_in_the_middle_ends_the_connection(void **state)
{
    bool reads = false;

    (void)state;
    run_on_loop(NULL, walk_away, &reads);
    reads = true;
    run_on_loop(NULL, walk_away, &reads);
}

/* ---- time and cancellation ---- */

struct silent {
    struct on_loop *env;
    const char *url;
    bool answers; /* sends headers, then nothing */
    atomic_bool came, closed;
    struct err *err;
};

static void serve_silence(int fd, unsigned n, void *ctx)
{
    struct silent *silent = ctx;
    char request[4096];

    (void)n;
    raw_read_request(fd, request, sizeof request);
    if (silent->answers)
        raw_write(fd, CHUNKED);
    atomic_store(&silent->came, true);
    raw_wait_closed(fd);
    atomic_store(&silent->closed, true);
}

static void listen_for_ever(struct task *self, void *arg)
{
    struct silent *silent = arg;
    struct http_request request = {.url = silent->url, .deadline = TIMER_NEVER};
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(http_stream_closep) struct http_stream *stream = NULL;
    struct http_transport *transport = silent->env->transport;
    const char *data;
    size_t length;

    silent->err = transport->open(transport, self, &request, &response, &stream);
    if (!silent->err)
        silent->err = stream->read(stream, self, TIMER_NEVER, &data, &length);
}

static void cancel_a_listener(struct task *self, struct on_loop *env)
{
    struct silent *silent = env->ctx;
    struct raw_server *server = raw_server_start(serve_silence, silent);
    struct task_group group;

    silent->env = env;
    silent->url = raw_server_url(server);
    group_init(&group, env->loop);
    group_spawn(&group, "listener", listen_for_ever, silent);
    wait_for(self, &silent->came);
    assert_ok(task_sleep(self, 5));
    group_close(self, &group);
    assert_int_equal(err_kind(silent->err), ERR_CANCELED);
    err_free(silent->err);
    wait_for(self, &silent->closed);
    raw_server_stop(server);
}

static void test_cancelling_ends_the_connection(void **state)
{
    struct silent in_open = {.answers = false}, in_read = {.answers = true};

    (void)state;
    run_on_loop(NULL, cancel_a_listener, &in_open);
    run_on_loop(NULL, cancel_a_listener, &in_read);
}

static void wait_for_headers(struct task *self, struct on_loop *env)
{
    struct silent *silent = env->ctx;
    struct raw_server *server = raw_server_start(serve_silence, silent);
    struct http_response response = {0};
    struct http_stream *stream = NULL;
    CLEANUP(freep)
    char *fault = mem_printf("GET %s: timed out", raw_server_url(server));

    assert_fails(open_stream(self, env, raw_server_url(server), 500, &response, &stream),
                 ERR_TIMEOUT, fault);
    assert_null(stream);
    wait_for(self, &silent->closed);
    raw_server_stop(server);
}

static void test_no_headers_in_time(void **state)
{
    struct silent silent = {.answers = false};

    (void)state;
    run_on_loop(NULL, wait_for_headers, &silent);
}

/* ---- beside requests ---- */

static void say_ok(struct task *self, void *ctx, const struct http_call *call,
                   struct http_reply *reply)
{
    (void)self, (void)ctx, (void)call;
    http_reply_text(reply, 200, "ok");
}

static void ask_beside_a_stream(struct task *self, struct on_loop *env)
{
    static const struct http_route routes[] = {{"GET", "/", say_ok}};
    struct silent *silent = env->ctx;
    struct raw_server *streams = raw_server_start(serve_silence, silent);
    struct http_server_config config = {.address = "127.0.0.1:0", .routes = routes, .n_routes = 1};
    CLEANUP(http_response_finip) struct http_response head = {0}, response = {0};
    struct http_stream *stream = NULL;
    struct http_server *server;

    assert_ok(http_server_new(env->loop, &config, &server));
    assert_ok(open_stream(self, env, raw_server_url(streams), 5000, &head, &stream));
    CLEANUP(freep) char *url = mem_printf("http://127.0.0.1:%u/", http_server_port(server));
    struct http_request request = {.url = url, .deadline = loop_deadline(env->loop, 5000)};
    assert_ok(http_exchange(self, env->transport, &request, &response));
    assert_string_equal(response.body, "ok");
    http_stream_close(stream);
    http_server_close(self, server);
    raw_server_stop(streams);
}

static void test_a_stream_takes_no_connection_from_requests(void **state)
{
    const struct http_client_config config = {.proxy = "", .max_connections = 1};
    struct silent silent = {.answers = true};

    (void)state;
    run_on_loop(&config, ask_beside_a_stream, &silent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_of_every_kind),
        cmocka_unit_test(test_pieces_come_as_they_are_sent),
        cmocka_unit_test(test_a_reset_is_an_error),
        cmocka_unit_test(test_an_interim_answer_is_none),
        cmocka_unit_test(test_a_slow_reader_holds_the_server_up),
        cmocka_unit_test(test_closing_in_the_middle_ends_the_connection),
        cmocka_unit_test(test_cancelling_ends_the_connection),
        cmocka_unit_test(test_no_headers_in_time),
        cmocka_unit_test(test_a_stream_takes_no_connection_from_requests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
