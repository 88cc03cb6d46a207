/* The server, asked by our own client: routes, bodies, bounds, many at once, its end and its
 * return. */
#include "lib/http/server.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/http/listen.h"
#include "lib/rt/group.h"
#include "test/unit/lib/http/on_loop.h"

enum { MAX_BODY = 9 * 1024 * 1024, LARGE = 8 * 1024 * 1024 };

/* What the handlers see of the test, and the test of them. */
struct scene {
    unsigned running, most_running, done;
    bool may_finish;
    struct waiters changed;
};

/* ---- handlers ---- */

/* What came, as text. */
static void echo(struct task *self, void *ctx, const struct http_call *call,
                 struct http_reply *reply)
{
    struct buffer text;
    const char *header = http_header_find(call->headers, call->n_headers, "x-test");

    (void)self, (void)ctx;
    buffer_init(&text, 4096);
    buffer_printf(&text, "%s %s", call->method, call->path);
    for (size_t i = 0; i < call->n_arguments; i++)
        buffer_printf(&text, " %s=%s", call->arguments[i].name, call->arguments[i].value);
    buffer_printf(&text, " [%s] %s %zu:%s", call->query, header ? header : "-", call->body_length,
                  call->body);
    http_reply_header(reply, "X-Reply", "first");
    http_reply_header(reply, "x-reply", "second");
    http_reply_body(reply, 201, "text/x-echo", buffer_take(&text));
}

/* The body again. */
static void mirror(struct task *self, void *ctx, const struct http_call *call,
                   struct http_reply *reply)
{
    (void)self, (void)ctx;
    reply->body = mem_copy(call->body, call->body_length);
    reply->body_length = call->body_length;
}

static void slow(struct task *self, void *ctx, const struct http_call *call,
                 struct http_reply *reply)
{
    struct scene *scene = ctx;

    (void)call;
    if (++scene->running > scene->most_running)
        scene->most_running = scene->running;
    waiters_wake(&scene->changed);
    while (!scene->may_finish)
        wait_uninterruptible(self, &scene->changed);
    scene->running--;
    scene->done++;
    http_reply_text(reply, 200, "at last");
}

static void hang_up(struct task *self, void *ctx, const struct http_call *call,
                    struct http_reply *reply)
{
    (void)self, (void)ctx, (void)call;
    reply->hang_up = true;
}

static void nothing(struct task *self, void *ctx, const struct http_call *call,
                    struct http_reply *reply)
{
    (void)self, (void)ctx, (void)call, (void)reply;
}

static const struct http_route routes[] = {
    {NULL, "/echo*", echo}, {"POST", "/mirror", mirror},   {"GET", "/slow", slow},
    {"GET", "/", nothing},  {"GET", "/hang-up", hang_up},  {"GET", "/both", nothing},
    {"PUT", "/both", echo}, {"DELETE", "/prefix/*", echo},
};

/* ---- the two ends ---- */

struct ends {
    struct on_loop *env;
    struct http_server *server;
    struct scene scene;
    char *url;
};

static void ends_init(struct ends *ends, struct on_loop *env, int listen_fd)
{
    struct http_server_config config = {
        .address = "127.0.0.1:0",
        .listen_fd = listen_fd,
        .routes = routes,
        .n_routes = COUNT_OF(routes),
        .ctx = &ends->scene,
        .max_body = MAX_BODY,
    };

    *ends = (struct ends){.env = env};
    waiters_init(&ends->scene.changed);
    assert_ok(http_server_new(env->loop, &config, &ends->server));
    ends->url = mem_printf("http://127.0.0.1:%u", http_server_port(ends->server));
}

static void ends_fini(struct task *self, struct ends *ends)
{
    http_server_close(self, ends->server);
    free(ends->url);
}

static struct err *ask(struct task *self, struct ends *ends, const char *method, const char *path,
                       const char *body, struct http_response *ret)
{
    CLEANUP(freep) char *url = mem_printf("%s%s", ends->url, path);
    const struct http_header header = {"X-Test", "tested"};
    struct http_request request = {
        .method = method,
        .url = url,
        .headers = &header,
        .n_headers = 1,
        .body = body,
        .body_length = body ? strlen(body) : 0,
        .deadline = loop_deadline(ends->env->loop, 20 * 1000),
    };

    return http_exchange(self, ends->env->transport, &request, ret);
}

/* ---- routes ---- */

static const struct {
    const char *method, *path, *body;
    int status;
    const char *answer;
} calls[] = {
    {"GET", "/echo", NULL, 201, "GET /echo [] tested 0:"},
    {"GET", "/echo/a%20b/c?x=1&y=a%2Bb+c&z&x=2", NULL, 201,
     "GET /echo/a b/c x=1 y=a+b c z= x=2 [x=1&y=a%2Bb+c&z&x=2] tested 0:"},
    {"POST", "/echo", "body", 201, "POST /echo [] tested 4:body"},
    {"PUT", "/both", "", 201, "PUT /both [] tested 0:"},
    {"PATCH", "/echo", "{}", 201, "PATCH /echo [] tested 2:{}"},
    {"DELETE", "/prefix/", "x", 201, "DELETE /prefix/ [] tested 1:x"},
    {"GET", "/", NULL, 200, ""},
    {"GET", "/both", NULL, 200, ""},
    {"POST", "/both", NULL, 405, "POST /both: no such method for this path\n"},
    {"DELETE", "/prefix", NULL, 404, "DELETE /prefix: no such path\n"},
    {"GET", "/none?x", NULL, 404, "GET /none: no such path\n"},
    {"GET", "/slow/er", NULL, 404, "GET /slow/er: no such path\n"},
    {"GET", "//", NULL, 404, "GET //: no such path\n"},
};

static void make_calls(struct task *self, struct on_loop *env)
{
    struct ends ends;

    ends_init(&ends, env, 0);
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        CLEANUP(http_response_finip) struct http_response response = {0};

        assert_ok(ask(self, &ends, calls[i].method, calls[i].path, calls[i].body, &response));
        assert_string_equal(response.body, calls[i].answer);
        assert_int_equal(response.status, calls[i].status);
        if (response.status != 201)
            continue;
        assert_string_equal(http_header_find(response.headers, response.n_headers, "content-type"),
                            "text/x-echo");
        assert_string_equal(http_header_find(response.headers, response.n_headers, "X-Reply"),
                            "second");
    }
    ends_fini(self, &ends);
}

static void test_routes(void **state)
{
    (void)state;
    run_on_loop(NULL, make_calls, NULL);
}

static void be_hung_up_on(struct task *self, struct on_loop *env)
{
    struct http_response response = {0};
    struct ends ends;

    ends_init(&ends, env, 0);
    CLEANUP(freep) char *fault = mem_printf("GET %s/hang-up: Empty reply from server", ends.url);
    assert_fails(ask(self, &ends, "GET", "/hang-up", NULL, &response), ERR_UNAVAILABLE, fault);
    ends_fini(self, &ends);
}

static void test_hanging_up_gives_no_answer(void **state)
{
    (void)state;
    run_on_loop(NULL, be_hung_up_on, NULL);
}

/* ---- large bodies ---- */

static char *large_body(size_t length)
{
    char *body = mem_alloc(length + 1);

    for (size_t i = 0; i < length; i++)
        body[i] = (char)('a' + (i * 7 + i / 1000) % 26);
    return body;
}

static void carry_large_bodies(struct task *self, struct on_loop *env)
{
    static const struct {
        size_t length, max_response;
        int status; /* 0: EXHAUSTED */
    } rows[] = {
        {LARGE, 0, 200},        {LARGE, LARGE, 200},    {LARGE, LARGE - 1, 0}, {MAX_BODY, 0, 200},
        {MAX_BODY + 1, 0, 413}, {2 * MAX_BODY, 0, 413}, {1, 0, 200},
    };
    struct ends ends;

    ends_init(&ends, env, 0);
    CLEANUP(freep) char *url = mem_printf("%s/mirror", ends.url);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(http_response_finip) struct http_response response = {0};
        CLEANUP(freep) char *body = large_body(rows[i].length);
        struct http_request request = {.method = "POST",
                                       .url = url,
                                       .body = body,
                                       .body_length = rows[i].length,
                                       .deadline = loop_deadline(env->loop, 20 * 1000),
                                       .max_response = rows[i].max_response};
        struct err *err = http_exchange(self, env->transport, &request, &response);

        if (!rows[i].status) {
            assert_int_equal(err_kind(err), ERR_EXHAUSTED);
            err_free(err);
            continue;
        }
        assert_ok(err);
        assert_int_equal(response.status, rows[i].status);
        if (response.status == 413) {
            assert_string_equal(response.body, "the body is larger than 9437184 bytes\n");
            continue;
        }
        assert_int_equal(response.body_length, rows[i].length);
        assert_memory_equal(response.body, body, rows[i].length + 1);
    }
    ends_fini(self, &ends);
}

static void test_large_bodies_and_limits(void **state)
{
    (void)state;
    run_on_loop(NULL, carry_large_bodies, NULL);
}

/* ---- many at once ---- */

enum { MANY = 500, CONNECTIONS = 8 };

struct asker {
    struct ends *ends;
    unsigned number, *answered;
};

static void ask_once(struct task *self, void *arg)
{
    struct asker *asker = arg;
    CLEANUP(freep) char *body = mem_printf("%u", asker->number);
    CLEANUP(http_response_finip) struct http_response response = {0};

    assert_ok(ask(self, asker->ends, "POST", "/mirror", body, &response));
    assert_string_equal(response.body, body);
    ++*asker->answered;
}

/* Those that our side had to the port, in whatever state they are by now. */
static unsigned connections_to(unsigned port)
{
    char line[256];
    unsigned n = 0, remote;
    FILE *file = fopen("/proc/self/net/tcp", "re");

    while (fgets(line, sizeof line, file))
        n += sscanf(line, "%*s %*s %*8x:%x", &remote) == 1 && remote == port;
    fclose(file);
    return n;
}

static void ask_many(struct task *self, struct on_loop *env)
{
    struct asker askers[MANY];
    unsigned answered = 0;
    struct task_group group;
    struct ends ends;

    ends_init(&ends, env, 0);
    group_init(&group, env->loop);
    for (unsigned i = 0; i < MANY; i++) {
        askers[i] = (struct asker){&ends, i, &answered};
        group_spawn(&group, "asker", ask_once, &askers[i]);
    }
    while (group.n_members > 0)
        wait_uninterruptible(self, &group.ended);
    assert_int_equal(answered, MANY);
    assert_in_range(connections_to(http_server_port(ends.server)), 1, CONNECTIONS);
    ends_fini(self, &ends);
}

static void test_many_requests_share_few_connections(void **state)
{
    const struct http_client_config config = {.proxy = "", .max_connections = CONNECTIONS};

    (void)state;
    run_on_loop(&config, ask_many, NULL);
}

/* ---- the end of a server ---- */

struct waiting {
    struct ends *ends;
    struct http_response response;
    struct err *err;
};

static void ask_slowly(struct task *self, void *arg)
{
    struct waiting *waiting = arg;

    waiting->err = ask(self, waiting->ends, "GET", "/slow", NULL, &waiting->response);
}

static void let_finish(void *ctx)
{
    struct scene *scene = ctx;

    scene->may_finish = true;
    waiters_wake(&scene->changed);
}

enum { WAITING = 10 };

static void close_while_handlers_run(struct task *self, struct on_loop *env)
{
    const uint64_t *last_ms = env->ctx;
    struct waiting waiting[WAITING];
    struct timer timer = {0};
    struct task_group group;
    struct ends ends;

    ends_init(&ends, env, 0);
    group_init(&group, env->loop);
    for (unsigned i = 0; i < WAITING; i++) {
        waiting[i] = (struct waiting){.ends = &ends};
        group_spawn(&group, "waiting", ask_slowly, &waiting[i]);
    }
    while (ends.scene.running < WAITING)
        wait_uninterruptible(self, &ends.scene.changed);
    loop_start_timer(env->loop, &timer, loop_deadline(env->loop, *last_ms), let_finish,
                     &ends.scene);
    http_server_close(self, ends.server);
    assert_int_equal(ends.scene.done, WAITING);
    while (group.n_members > 0)
        wait_uninterruptible(self, &group.ended);
    for (unsigned i = 0; i < WAITING; i++) {
        assert_ok(waiting[i].err);
        assert_string_equal(waiting[i].response.body, "at last");
        http_response_fini(&waiting[i].response);
    }
    free(ends.url);
}

static void test_closing_waits_for_handlers_and_their_replies(void **state)
{
    uint64_t last_ms = 20;

    (void)state;
    for (int i = 0; i < 20; i++)
        run_on_loop(NULL, close_while_handlers_run, &last_ms);
    last_ms = 2500; /* longer than it waits for anybody else */
    run_on_loop(NULL, close_while_handlers_run, &last_ms);
}

/* One that is called while the server closes, by a client that has a connection to it. */
struct latecomer {
    struct ends *ends;
    struct timer timer;
    struct task_group *group;
    struct waiting waiting;
};

static void ask_late(struct task *self, void *arg)
{
    struct waiting *waiting = arg;

    waiting->err = ask(self, waiting->ends, "GET", "/", NULL, &waiting->response);
    let_finish(&waiting->ends->scene);
}

static void come_late(void *ctx)
{
    struct latecomer *latecomer = ctx;

    group_spawn(latecomer->group, "late", ask_late, &latecomer->waiting);
}

static void ask_a_closing_server(struct task *self, struct on_loop *env)
{
    struct task_group group;
    struct ends ends;
    struct waiting waiting = {.ends = &ends};
    struct latecomer latecomer = {.group = &group, .waiting = {.ends = &ends}};

    ends_init(&ends, env, 0);
    group_init(&group, env->loop);
    group_spawn(&group, "waiting", ask_slowly, &waiting);
    while (ends.scene.running < 1)
        wait_uninterruptible(self, &ends.scene.changed);
    loop_start_timer(env->loop, &latecomer.timer, loop_deadline(env->loop, 20), come_late,
                     &latecomer);
    http_server_close(self, ends.server);
    while (group.n_members > 0)
        wait_uninterruptible(self, &group.ended);
    assert_ok(waiting.err);
    assert_ok(latecomer.waiting.err);
    assert_int_equal(waiting.response.status, 200);
    assert_int_equal(latecomer.waiting.response.status, 503);
    assert_string_equal(latecomer.waiting.response.body, "shutting down\n");
    http_response_fini(&waiting.response);
    http_response_fini(&latecomer.waiting.response);
    free(ends.url);
}

static void test_a_closing_server_says_so(void **state)
{
    (void)state;
    run_on_loop(NULL, ask_a_closing_server, NULL);
}

static void come_back(struct task *self, struct on_loop *env)
{
    struct http_response response = {0};
    struct ends ends;

    ends_init(&ends, env, 0);
    CLEANUP(freep) char *address = mem_strdup(ends.url + strlen("http://"));
    CLEANUP(freep) char *url = mem_printf("%s/", ends.url);
    CLEANUP(freep) char *fault = mem_printf("GET %s: not sent: Failed to connect", url);
    for (int i = 0; i < 3; i++) {
        int fd;

        assert_ok(ask(self, &ends, "GET", "/", NULL, &response));
        http_response_fini(&response);
        http_server_close(self, ends.server);
        struct err *err = ask(self, &ends, "GET", "/", NULL, &response);
        assert_int_equal(err_kind(err), ERR_NOT_SENT);
        assert_memory_equal(err_message(err), fault, strlen(fault));
        err_free(err);
        free(ends.url);
        assert_ok(listen_on(address, &fd));
        ends_init(&ends, env, fd);
    }
    assert_ok(ask(self, &ends, "GET", "/", NULL, &response));
    http_response_fini(&response);
    ends_fini(self, &ends);
}

static void test_a_server_may_come_back_on_its_port(void **state)
{
    (void)state;
    run_on_loop(NULL, come_back, NULL);
}

static void start_on_a_used_port(struct task *self, struct on_loop *env)
{
    struct http_server *second;
    struct ends ends;

    ends_init(&ends, env, 0);
    CLEANUP(freep)
    char *fault =
        mem_printf("cannot listen on %s: Address already in use", ends.url + strlen("http://"));
    struct http_server_config config = {.address = ends.url + strlen("http://")};
    assert_fails(http_server_new(env->loop, &config, &second), ERR_BUSY, fault);
    ends_fini(self, &ends);
}

static void test_a_port_in_use_is_named(void **state)
{
    (void)state;
    run_on_loop(NULL, start_on_a_used_port, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_routes),
        cmocka_unit_test(test_hanging_up_gives_no_answer),
        cmocka_unit_test(test_large_bodies_and_limits),
        cmocka_unit_test(test_many_requests_share_few_connections),
        cmocka_unit_test(test_closing_waits_for_handlers_and_their_replies),
        cmocka_unit_test(test_a_closing_server_says_so),
        cmocka_unit_test(test_a_server_may_come_back_on_its_port),
        cmocka_unit_test(test_a_port_in_use_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
