/* What clients can take of a server that only want to keep it busy: places, time, memory. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "lib/base/alloc.h"
#include "lib/http/server.h"
#include "lib/rt/group.h"
#include "lib/rt/thread_pool.h"
#include "test/unit/lib/http/on_loop.h"

enum {
    LIMIT_MS = 300,
    PATIENCE_MS = 20 * 1000, /* of clients that are told when it is over */
    MAX_BODY = 10 * 1000,
    LARGE_REPLY = 32 * 1024 * 1024,
};

/* ---- the server ---- */

struct scene {
    struct on_loop *env;
    struct http_server *server;
    struct thread_pool *pool;
    unsigned handled, running;
    bool may_finish;
    struct waiters changed;
};

static void answer(struct task *self, void *ctx, const struct http_call *call,
                   struct http_reply *reply)
{
    (void)self;
    ((struct scene *)ctx)->handled++;
    http_reply_text(reply, 200, "%zu bytes", call->body_length);
}

static void wait_and_answer(struct task *self, void *ctx, const struct http_call *call,
                            struct http_reply *reply)
{
    struct scene *scene = ctx;

    scene->running++;
    waiters_wake(&scene->changed);
    while (!scene->may_finish)
        wait_uninterruptible(self, &scene->changed);
    scene->running--;
    answer(self, ctx, call, reply);
}

static void answer_much(struct task *self, void *ctx, const struct http_call *call,
                        struct http_reply *reply)
{
    (void)self, (void)ctx, (void)call;
    reply->body = mem_alloc(LARGE_REPLY);
    reply->body_length = LARGE_REPLY;
}

static const struct http_route routes[] = {
    {NULL, "/", answer}, {NULL, "/wait", wait_and_answer}, {NULL, "/much", answer_much}};

static void begin(struct scene *scene, struct on_loop *env, struct http_server_config config)
{
    *scene = (struct scene){.env = env, .pool = thread_pool_new(env->loop, 1, 1)};
    waiters_init(&scene->changed);
    config.address = "127.0.0.1:0";
    config.routes = routes;
    config.n_routes = COUNT_OF(routes);
    config.ctx = scene;
    config.max_body = MAX_BODY;
    assert_ok(http_server_new(env->loop, &config, &scene->server));
}

static void finish(struct task *self, struct scene *scene)
{
    http_server_close(self, scene->server);
    thread_pool_free(scene->pool);
}

/* ---- clients ---- */

static int connect_from(const struct scene *scene, const char *address)
{
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(address)};
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)http_server_port(scene->server)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Waits so long for the server's end of it, if nothing is left to be read. */
static bool is_over(int fd, int ms)
{
    struct pollfd wait = {.fd = fd, .events = POLLRDHUP};
    char c;

    return poll(&wait, 1, ms) > 0 && recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

/* A conversation that goes on until the server ends it, on a worker's thread. */
struct client {
    int fd;
    const char *first, *again; /* said at once, and ever again; NULL: nothing */
    int pause_ms;              /* between two times */
    bool half_closed;
    size_t read_at_once; /* of the answer, in each pause */
    bool ended;
    size_t sent, received;
};

static void talk(void *arg)
{
    struct client *client = arg;
    CLEANUP(freep) char *block = mem_alloc(64 * 1024);

    if (client->first)
        say(client->fd, client->first);
    if (client->half_closed)
        shutdown(client->fd, SHUT_WR);
    for (int ms = 0; ms < PATIENCE_MS && !client->ended; ms += client->pause_ms) {
        client->ended = is_over(client->fd, client->pause_ms);
        if (client->read_at_once) {
            ssize_t n = recv(client->fd, block, client->read_at_once, MSG_DONTWAIT);
            client->received += n > 0 ? (size_t)n : 0;
        }
        if (client->again && !client->ended) {
            ssize_t n = send(client->fd, client->again, strlen(client->again), MSG_NOSIGNAL);
            client->sent += n > 0 ? (size_t)n : 0;
            client->ended = n < 0;
        }
    }
}

/* ---- time ---- */

#define HEAD "POST / HTTP/1.1\r\nHost: h\r\n"

static void outstay(struct task *self, struct on_loop *env)
{
    const struct {
        const char *why;
        struct client client;
        unsigned handled;
        bool at_once;
    } rows[] = {
        {"nothing is said", {0}, 0, false},
        {"a request line without end", {.first = "GET /", .again = "x"}, 0, false},
        {"headers without end", {.first = HEAD, .again = "X: x\r\n"}, 0, false},
        {"a body in drops", {.first = HEAD "Content-Length: 9000\r\n\r\n", .again = "x"}, 0, false},
        {"chunks in drops",
         {.first = HEAD "Transfer-Encoding: chunked\r\n\r\n", .again = "1\r\nx\r\n"},
         0,
         false},
        {"nothing is said after the answer",
         {.first = HEAD "Content-Length: 1\r\n\r\nx", .read_at_once = 1024},
         1,
         false},
        {"half a request, and no more to come",
         {.first = "GET / HTTP/1.1\r\n", .half_closed = true},
         0,
         true},
        {"an answer is read in drops",
         {.first = "GET /much HTTP/1.1\r\nHost: h\r\n\r\n", .read_at_once = 64 * 1024},
         0,
         false},
    };
    struct scene scene;

    begin(&scene, env, (struct http_server_config){.request_ms = LIMIT_MS, .reply_ms = LIMIT_MS});
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t began = loop_now(env->loop);
        struct client client = rows[i].client;

        scene.handled = 0;
        client.fd = connect_from(&scene, "127.0.0.1");
        client.pause_ms = 10;
        assert_ok(thread_pool_run(self, scene.pool, talk, &client));
        close(client.fd);
        uint64_t lasted = loop_now(env->loop) - began;
        bool in_time = client.ended && (rows[i].at_once || lasted >= LIMIT_MS);
        if (!in_time || client.received >= LARGE_REPLY || scene.handled != rows[i].handled)
            fail_msg("%s: %s after %d ms, handled %u times", rows[i].why,
                     client.ended ? "ended" : "goes on", (int)lasted, scene.handled);
    }
    finish(self, &scene);
}

static void test_a_client_has_a_deadline_however_busy_it_is(void **state)
{
    (void)state;
    run_on_loop(NULL, outstay, NULL);
}

/* ---- places ---- */

enum { PLACES = 4, PLACES_OF_ADDRESS = 2 };

static void expect_answer(struct task *self, struct scene *scene)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(freep) char *url = mem_printf("http://127.0.0.1:%u/", http_server_port(scene->server));
    struct http_request request = on_loop_request(scene->env, "GET", url, PATIENCE_MS);
    const struct http_header header = {"Connection", "close"};

    request.headers = &header;
    request.n_headers = 1;
    assert_ok(http_exchange(self, scene->env->transport, &request, &response));
    assert_string_equal(response.body, "0 bytes");
}

static const char *const addresses[] = {"127.0.0.2", "127.0.0.3", "127.0.0.3", "127.0.0.4"};

static void crowd(struct task *self, struct on_loop *env)
{
    struct scene scene;
    int fds[PLACES];

    begin(&scene, env,
          (struct http_server_config){.max_connections = PLACES,
                                      .max_per_address = PLACES_OF_ADDRESS});
    for (int i = 0; i < PLACES; i++)
        fds[i] = connect_from(&scene, addresses[i]);
    int third = connect_from(&scene, "127.0.0.3");
    assert_true(is_over(fds[1], PATIENCE_MS)); /* the first of its address */
    assert_false(is_over(fds[0], 0));
    expect_answer(self, &scene);
    assert_true(is_over(fds[0], PATIENCE_MS)); /* the first of all */
    say(fds[3], "GET / HTTP/1.0\r\n\r\n");
    struct client client = {.fd = fds[3], .pause_ms = 10, .read_at_once = 999};
    assert_ok(thread_pool_run(self, scene.pool, talk, &client));
    assert_true(client.received > 0); /* those that were spared are served */
    for (int i = 0; i < PLACES; i++)
        close(fds[i]);
    close(third);
    finish(self, &scene);
}

static void test_the_one_that_waited_longest_gives_way(void **state)
{
    (void)state;
    run_on_loop(NULL, crowd, NULL);
}

static void overload(struct task *self, struct on_loop *env)
{
    struct scene scene;
    int fds[PLACES];

    begin(&scene, env, (struct http_server_config){.max_connections = PLACES});
    for (int i = 0; i < PLACES; i++) {
        fds[i] = connect_from(&scene, addresses[i]);
        say(fds[i], "GET /wait HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    }
    while (scene.running < PLACES)
        wait_uninterruptible(self, &scene.changed);
    int newcomer = connect_from(&scene, "127.0.0.1");
    assert_true(is_over(newcomer, PATIENCE_MS));
    close(newcomer);
    scene.may_finish = true;
    waiters_wake(&scene.changed);
    for (int i = 0; i < PLACES; i++) {
        struct client client = {.fd = fds[i], .pause_ms = 10, .read_at_once = 999};

        assert_ok(thread_pool_run(self, scene.pool, talk, &client));
        assert_true(client.received > 0);
        close(fds[i]);
    }
    expect_answer(self, &scene);
    finish(self, &scene);
}

static void test_handlers_are_not_given_up_for_a_newcomer(void **state)
{
    (void)state;
    run_on_loop(NULL, overload, NULL);
}

/* ---- memory ---- */

static void flood(struct task *self, struct on_loop *env)
{
    CLEANUP(freep) char *block = mem_alloc(4096 + 1);
    struct scene scene;

    memset(block, 'x', 4096);
    begin(&scene, env, (struct http_server_config){0});
    struct client client = {.fd = connect_from(&scene, "127.0.0.1"),
                            .first = HEAD "Content-Length: 1000000000\r\n\r\n",
                            .again = block};
    client.pause_ms = 0;
    assert_ok(thread_pool_run(self, scene.pool, talk, &client));
    assert_true(client.ended);
    assert_in_range(client.sent, 16 * MAX_BODY, 100 * 1000 * 1000); /* what sockets hold included */
    assert_int_equal(scene.handled, 0);
    close(client.fd);
    finish(self, &scene);
}

static void test_a_body_without_end_is_cut_off(void **state)
{
    (void)state;
    run_on_loop(NULL, flood, NULL);
}

static struct err *post(struct task *self, struct scene *scene, size_t length,
                        struct http_response *ret)
{
    CLEANUP(freep) char *url = mem_printf("http://127.0.0.1:%u/", http_server_port(scene->server));
    CLEANUP(freep) char *body = mem_alloc(length + 1);
    struct http_request request = on_loop_request(scene->env, "POST", url, PATIENCE_MS);

    memset(body, 'x', length);
    request.body = body;
    request.body_length = length;
    return http_exchange(self, scene->env->transport, &request, ret);
}

static void hoard(struct task *self, struct on_loop *env)
{
    CLEANUP(http_response_finip) struct http_response given = {0}, refused = {0};
    CLEANUP(freep) char *part = mem_alloc(9 * 1000 + 1);
    struct scene scene;

    memset(part, 'x', 9 * 1000);
    begin(&scene, env, (struct http_server_config){.max_bodies = MAX_BODY + 1000});
    int hoarder = connect_from(&scene, "127.0.0.2");
    say(hoarder, HEAD "Content-Length: 10000\r\n\r\n");
    say(hoarder, part);
    assert_ok(post(self, &scene, MAX_BODY, &given)); /* the hoarder may be heard before or after */
    assert_string_equal(given.body, "10000 bytes");
    close(hoarder);

    int holder = connect_from(&scene, "127.0.0.2");
    say(holder, "POST /wait HTTP/1.1\r\nHost: h\r\nContent-Length: 9000\r\n\r\n");
    say(holder, part);
    while (scene.running < 1)
        wait_uninterruptible(self, &scene.changed);
    assert_ok(post(self, &scene, MAX_BODY, &refused));
    assert_int_equal(refused.status, 503);
    assert_string_equal(refused.body, "too many concurrent requests\n");
    scene.may_finish = true;
    waiters_wake(&scene.changed);
    close(holder);
    finish(self, &scene);
}

static void test_bodies_together_are_bounded(void **state)
{
    (void)state;
    run_on_loop(NULL, hoard, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_client_has_a_deadline_however_busy_it_is),
        cmocka_unit_test(test_the_one_that_waited_longest_gives_way),
        cmocka_unit_test(test_handlers_are_not_given_up_for_a_newcomer),
        cmocka_unit_test(test_a_body_without_end_is_cut_off),
        cmocka_unit_test(test_bodies_together_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
