/* Replies that are broken off, that do not say how long they are, and that take their time; and a
 * server that closes in the middle of one. */
#include "lib/base/alloc.h"
#include "lib/http/server.h"
#include "lib/rt/wait.h"
#include "test/unit/lib/http/on_loop.h"

/* A pause is a twentieth of the time. */
enum { LENGTH = 100 * 1000, SLOWLY_MS = 200, VERY_SLOWLY_MS = 20 * 1000 };

/* A body of LENGTH bytes, sent as the path's number says; with a word behind it, very slowly. */
static void reply_so(struct task *self, void *ctx, const struct http_call *call,
                     struct http_reply *reply)
{
    char *body = mem_alloc(LENGTH + 1);

    (void)self;
    for (size_t i = 0; i < LENGTH; i++)
        body[i] = (char)('a' + i % 26);
    http_reply_body(reply, 200, "text/plain", body);
    reply->send_mode = (enum http_send_mode)(call->path[1] - '0');
    reply->send_ms = call->path[2] ? VERY_SLOWLY_MS : SLOWLY_MS;
    waiters_wake(ctx);
}

static const struct http_route routes[] = {{NULL, "/*", reply_so}};

struct ends {
    struct on_loop *env;
    struct http_server *server;
    struct waiters changed;
    struct http_response response;
    struct err *err;
    bool ended;
    char url[64];
};

static void open_ends(struct on_loop *env, struct ends *ends, enum http_send_mode send_mode)
{
    *ends = (struct ends){.env = env};
    waiters_init(&ends->changed);
    assert_ok(http_server_new(env->loop,
                              &(struct http_server_config){.address = "127.0.0.1:0",
                                                           .routes = routes,
                                                           .n_routes = COUNT_OF(routes),
                                                           .ctx = &ends->changed},
                              &ends->server));
    snprintf(ends->url, sizeof ends->url, "http://127.0.0.1:%u/%d", http_server_port(ends->server),
             (int)send_mode);
}

static struct err *get(struct task *self, struct ends *ends)
{
    struct http_request request = on_loop_request(ends->env, "GET", ends->url, 60 * 1000);

    return http_exchange(self, ends->env->transport, &request, &ends->response);
}

static void check_whole(const struct ends *ends)
{
    assert_int_equal(ends->response.status, 200);
    assert_int_equal(ends->response.body_length, LENGTH);
    for (size_t i = 0; i < LENGTH; i++)
        assert_int_equal(ends->response.body[i], 'a' + i % 26);
}

static void ask_for_one(struct task *self, struct on_loop *env)
{
    enum http_send_mode send_mode = *(enum http_send_mode *)env->ctx;
    uint64_t before = loop_now(env->loop);
    struct ends ends;

    open_ends(env, &ends, send_mode);
    struct err *err = get(self, &ends);
    if (send_mode == HTTP_SEND_CUT) {
        assert_non_null(err);
        assert_int_equal(err_kind(err), ERR_UNAVAILABLE);
        err_free(err);
    } else {
        assert_ok(err);
        check_whole(&ends);
    }
    const char *length =
        http_header_find(ends.response.headers, ends.response.n_headers, "Content-Length");
    if (send_mode == HTTP_SEND_CHUNKED)
        assert_null(length);
    if (send_mode == HTTP_SEND_SLOWLY)
        assert_true(loop_now(env->loop) - before >= SLOWLY_MS * 9 / 10);
    http_response_fini(&ends.response);
    http_server_close(self, ends.server);
}

static void test_each_way(void **state)
{
    enum http_send_mode ways[] = {HTTP_SEND_WHOLE, HTTP_SEND_CUT, HTTP_SEND_CHUNKED,
                                  HTTP_SEND_SLOWLY};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ways); i++)
        run_on_loop(NULL, ask_for_one, &ways[i]);
}

static void get_in_background(struct task *self, void *arg)
{
    struct ends *ends = arg;

    ends->err = get(self, ends);
    ends->ended = true;
    waiters_wake(&ends->changed);
}

/* It waits for the pause that runs, and no longer. */
static void close_in_the_middle(struct task *self, struct on_loop *env)
{
    uint64_t before = loop_now(env->loop);
    struct ends ends;

    open_ends(env, &ends, HTTP_SEND_SLOWLY);
    snprintf(ends.url + strlen(ends.url), 8, "very");
    loop_spawn(env->loop, "get", get_in_background, &ends);
    assert_ok(wait_for_change(self, &ends.changed, TIMER_NEVER)); /* the request has come */
    assert_ok(task_sleep(self, 50)); /* it most likely pauses now; it ends well in any case */
    http_server_close(self, ends.server);
    while (!ends.ended)
        assert_ok(wait_for_change(self, &ends.changed, TIMER_NEVER));
    assert_non_null(ends.err);
    assert_true(loop_now(env->loop) - before < VERY_SLOWLY_MS);
    err_free(ends.err);
    http_response_fini(&ends.response);
}

static void test_a_server_closes_in_the_middle(void **state)
{
    (void)state;
    run_on_loop(NULL, close_in_the_middle, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_way),
        cmocka_unit_test(test_a_server_closes_in_the_middle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
