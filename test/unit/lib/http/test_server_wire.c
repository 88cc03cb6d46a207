/* What the server makes of bytes that are not a well-behaved client's. Each row is what is sent and
 * what the answer must contain; NULL for a client that goes without waiting for one. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "lib/base/alloc.h"
#include "lib/http/server.h"
#include "lib/rt/thread_pool.h"
#include "lib/rt/wait.h"
#include "test/unit/expect.h"

enum { MAX_BODY = 10 };

static unsigned handled;

static void show(struct task *self, void *ctx, const struct http_call *call,
                 struct http_reply *reply)
{
    (void)self, (void)ctx;
    handled++;
    http_reply_text(reply, 200, "<%s %s>", call->path, call->body);
}

static void show_late(struct task *self, void *ctx, const struct http_call *call,
                      struct http_reply *reply)
{
    err_free(task_sleep(self, 20));
    show(self, ctx, call, reply);
}

static const struct http_route routes[] = {{NULL, "/late", show_late}, {NULL, "/*", show}};

#define FOUR_TIMES(text) text text text text
#define TIMES_256(text) FOUR_TIMES(FOUR_TIMES(FOUR_TIMES(FOUR_TIMES(text))))

static const struct {
    const char *why, *sent, *answer;
    unsigned handled;
} rows[] = {
    {"an ordinary one", "GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "</a >", 1},
    {"an old one", "GET /a HTTP/1.0\r\n\r\n", "</a >", 1},
    {"two at once, answered in their order",
     "GET /late HTTP/1.1\r\nHost: h\r\n\r\n"
     "GET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
     "</late >", 2},
    {"leave to send the body is given",
     "POST /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nConnection: close\r\n"
     "Content-Length: 3\r\n\r\nabc",
     "HTTP/1.1 100 Continue", 1},
    {"a body in pieces",
     "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
     "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n",
     "</a abcdefg>", 1},
    {"a body in pieces that is too large",
     "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
     "6\r\nabcdef\r\n5\r\nghijk\r\n0\r\n\r\n",
     "HTTP/1.1 413", 0},
    {"a NUL in the path ends it", "GET /a%00b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
     "</a >", 1},
    {"more headers than are kept",
     "GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n" TIMES_256("a: b\r\n") "\r\n", "</a >",
     1},
    {"more arguments than are kept",
     "GET /a?" TIMES_256("a=b&") " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "</a >", 1},
    {"no HTTP", "hello\r\n\r\n", "", 0},
    {"a body that never comes", "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab", NULL,
     0},
    {"headers that never end", "GET /a HTTP/1.1\r\nHost: h\r\nX: ", NULL, 0},
    {"a length that is none", "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: -5\r\n\r\nabcde",
     "HTTP/1.1 400", 0},
};

struct talk {
    unsigned port;
    const char *sent;
    bool listens;
    char answer[8192];
};

/* On a worker's thread: says everything, and listens to the end. */
static void talk(void *arg)
{
    struct talk *talk = arg;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)talk->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t length = strlen(talk->sent), got = 0;
    ssize_t n;

    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
        send(fd, talk->sent, length, MSG_NOSIGNAL) == (ssize_t)length) {
        while (talk->listens &&
               (n = read(fd, talk->answer + got, sizeof talk->answer - 1 - got)) > 0)
            got += (size_t)n;
    }
    talk->answer[got] = '\0';
    close(fd);
}

/* Headers beyond what the server takes for a connection. */
static char *endless_headers(void)
{
    char *text = mem_alloc(100 * 1000);
    size_t length = (size_t)snprintf(text, 100, "GET /a HTTP/1.1\r\nHost: h\r\nX: ");

    memset(text + length, 'x', 90 * 1000);
    memcpy(text + length + 90 * 1000, "\r\n\r\n", 5);
    return text;
}

static void talk_to_server(struct task *self, void *arg)
{
    struct loop *loop = arg;
    struct http_server_config config = {.address = "127.0.0.1:0",
                                        .routes = routes,
                                        .n_routes = COUNT_OF(routes),
                                        .max_body = MAX_BODY};
    struct thread_pool *pool = thread_pool_new(loop, 1, 1);
    struct http_server *server;

    assert_ok(http_server_new(loop, &config, &server));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct talk exchange = {
            .port = http_server_port(server), .sent = rows[i].sent, .listens = rows[i].answer};

        handled = 0;
        assert_ok(thread_pool_run(self, pool, talk, &exchange));
        if (!strstr(exchange.answer, rows[i].answer ? rows[i].answer : "") ||
            handled != rows[i].handled)
            fail_msg("%s: handled %u times, answered %s", rows[i].why, handled, exchange.answer);
    }
    CLEANUP(freep) char *endless = endless_headers();
    struct talk too_much = {.port = http_server_port(server), .sent = endless, .listens = true};
    handled = 0;
    assert_ok(thread_pool_run(self, pool, talk, &too_much));
    assert_int_equal(handled, 0);
    assert_memory_equal(too_much.answer, "HTTP/1.1 431", 12);
    http_server_close(self, server);
    thread_pool_free(pool);
}

static void test_wire(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new();

    (void)state;
    loop_spawn(loop, "test", talk_to_server, loop);
    loop_run(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wire)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
