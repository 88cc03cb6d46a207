/* The client against a server that does as it is told: what is sent, and what each kind of answer
 * becomes. */
#include "lib/http/client.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/lib/http/on_loop.h"
#include "test/unit/lib/http/raw_server.h"

enum { LONGEST = 4096 };

/* ---- what is sent ---- */

/* Answers with the request itself. */
static void serve_echo(int fd, unsigned n, void *ctx)
{
    char request[LONGEST];

    (void)n, (void)ctx;
    while (raw_read_request(fd, request, sizeof request)) {
        CLEANUP(freep)
        char *answer = mem_printf("HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
                                  strlen(request), request);
        raw_write(fd, answer);
    }
}

static const struct {
    const char *method, *header, *value, *body, *sent;
} requests[] = {
    {NULL, NULL, NULL, NULL, "GET /x/../?y=1 HTTP/1.1|Host: H|Accept: */*||"},
    {"GET", "Accept", "text/plain", NULL, "GET /x/../?y=1 HTTP/1.1|Host: H|Accept: text/plain||"},
    {"POST", NULL, NULL, NULL, "POST /x/../?y=1 HTTP/1.1|Host: H|Accept: */*|Content-Length: 0||"},
    {"PUT", "Content-Type", "a/b", "body",
     "PUT /x/../?y=1 HTTP/1.1|Host: H|Accept: */*|Content-Type: a/b|Content-Length: 4||body"},
    {"PATCH", NULL, NULL, "{}",
     "PATCH /x/../?y=1 HTTP/1.1|Host: H|Accept: */*|Content-Length: 2||{}"},
    {"DELETE", NULL, NULL, NULL, "DELETE /x/../?y=1 HTTP/1.1|Host: H|Accept: */*||"},
    {"DELETE", NULL, NULL, "{}",
     "DELETE /x/../?y=1 HTTP/1.1|Host: H|Accept: */*|Content-Length: 2||{}"},
    {NULL, NULL, NULL, "q", "GET /x/../?y=1 HTTP/1.1|Host: H|Accept: */*|Content-Length: 1||q"},
};

/* Lines end in | and the host is H, for the table's sake. */
static char *simplified(const char *sent, const char *host)
{
    char *text = mem_alloc(strlen(sent) + 1), *out = text;

    while (*sent) {
        if (strncmp(sent, host, strlen(host)) == 0) {
            *out++ = 'H';
            sent += strlen(host);
        } else if (strncmp(sent, "\r\n", 2) == 0) {
            *out++ = '|';
            sent += 2;
        } else {
            *out++ = *sent++;
        }
    }
    return text;
}

static void send_requests(struct task *self, struct on_loop *env)
{
    struct raw_server *server = raw_server_start(serve_echo, NULL);
    CLEANUP(freep) char *url = mem_printf("%s/x/../?y=1", raw_server_url(server));

    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        CLEANUP(http_response_finip) struct http_response response = {0};
        struct http_header header = {requests[i].header, requests[i].value};
        struct http_request request = on_loop_request(env, requests[i].method, url, 5000);

        request.headers = &header;
        request.n_headers = header.name ? 1 : 0;
        request.body = requests[i].body;
        request.body_length = request.body ? strlen(request.body) : 0;
        assert_ok(http_exchange(self, env->transport, &request, &response));
        CLEANUP(freep)
        char *sent = simplified(response.body, raw_server_url(server) + strlen("http://"));
        assert_string_equal(sent, requests[i].sent);
    }
    assert_int_equal(raw_server_connections(server), 1); /* kept between requests */
    raw_server_stop(server);
}

/* One after the other, so each must have given the one connection back. */
static void test_requests_as_they_are_sent(void **state)
{
    const struct http_client_config config = {.proxy = "", .max_connections = 1};

    (void)state;
    run_on_loop(&config, send_requests, NULL);
}

enum { LARGE = 3 * 1024 * 1024 };

/* Answers with the head of the request. */
static void serve_head(int fd, unsigned n, void *ctx)
{
    char *request = ctx;

    (void)n;
    if (!raw_read_request(fd, request, LARGE + LONGEST))
        return;
    *strstr(request, "\r\n\r\n") = '\0';
    CLEANUP(freep)
    char *answer =
        mem_printf("HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(request), request);
    raw_write(fd, answer);
}

/* A server need not give leave for it. */
static void send_a_large_body(struct task *self, struct on_loop *env)
{
    CLEANUP(freep) char *came = mem_alloc(LARGE + LONGEST);
    CLEANUP(freep) char *body = mem_alloc(LARGE + 1);
    CLEANUP(http_response_finip) struct http_response response = {0};
    struct raw_server *server = raw_server_start(serve_head, came);
    struct http_request request = on_loop_request(env, "PATCH", raw_server_url(server), 30 * 1000);

    memset(body, 'x', LARGE);
    request.body = body;
    request.body_length = LARGE;
    assert_ok(http_exchange(self, env->transport, &request, &response));
    assert_non_null(strstr(response.body, "Content-Length: 3145728"));
    assert_null(strstr(response.body, "Expect"));
    raw_server_stop(server);
}

static void test_a_large_body_is_sent_at_once(void **state)
{
    (void)state;
    run_on_loop(NULL, send_a_large_body, NULL);
}

/* ---- proxies ---- */

struct proxy_case {
    const char *configured, *environment; /* "" or NULL: none; "P" is replaced by the proxy */
    const char *except;                   /* NO_PROXY */
    bool used;
};

static void ask_by_proxy(struct task *self, struct on_loop *env)
{
    const bool *used = env->ctx;
    CLEANUP(http_response_finip) struct http_response response = {0};
    struct http_request request = on_loop_request(env, NULL, "http://127.0.0.1:1/x", 5000);
    struct err *err = http_exchange(self, env->transport, &request, &response);

    if (*used) {
        assert_ok(err);
        assert_memory_equal(response.body, "GET http://127.0.0.1:1/x HTTP/1.1\r\n", 35);
    } else {
        assert_int_equal(err_kind(err), ERR_NOT_SENT);
        err_free(err);
    }
}

static void test_proxies(void **state)
{
    static const struct proxy_case cases[] = {
        {NULL, NULL, NULL, false},
        {NULL, "P", NULL, true},
        {"", "P", NULL, false},
        {"P", NULL, NULL, true},
        {NULL, "P", "127.0.0.1,example.com", false}, /* as the chart excepts the API server */
        {NULL, "P", "example.com,127.0.0.0/8", false},
        {NULL, "P", "127.0.0.2,example.com", true},
        {"P", NULL, "127.0.0.1", true}, /* which is about the environment's proxy */
        {"P", NULL, "*", true},
        {"", "P", "example.com", false},
    };
    struct raw_server *proxy = raw_server_start(serve_echo, NULL);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *configured = cases[i].configured;
        bool used = cases[i].used;

        if (configured && *configured)
            configured = raw_server_url(proxy);
        if (cases[i].environment)
            setenv("http_proxy", raw_server_url(proxy), 1);
        if (cases[i].except)
            setenv("NO_PROXY", cases[i].except, 1);
        run_on_loop(&(struct http_client_config){.proxy = configured}, ask_by_proxy, &used);
        unsetenv("http_proxy");
        unsetenv("NO_PROXY");
    }
    raw_server_stop(proxy);
}

/* ---- what comes back ---- */

/* Said by a server that closes, or the client could take the connection for its next request before
 * it hears of the end. */
#define LAST "Connection: close\r\n"
#define LAST_OK "HTTP/1.1 200 OK\r\n" LAST "Content-Length: 2\r\n\r\nok"

static const struct {
    const char *answer;
    int status; /* 0: a fault */
    const char *body_or_fault;
    enum err_kind kind;
} answers[] = {
    {LAST_OK, 200, "ok", 0},
    {"HTTP/1.1 204 No Content\r\n" LAST "\r\n", 204, "", 0},
    {"HTTP/1.0 500 X\r\n\r\nuntil the end", 500, "until the end", 0},
    {"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n" LAST "Content-Length: 0\r\n\r\n",
     302, "", 0},
    {"HTTP/1.1 100 Continue\r\nRetry-After: 9\r\n\r\nHTTP/1.1 103 Early\r\n\r\n" LAST_OK, 200, "ok",
     0},
    {"HTTP/1.1 200 OK\r\n" LAST "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3\r\ncde\r\n0\r\nX: "
     "t\r\n\r\n",
     200, "abcde", 0},
    {"HTTP/1.1 200 OK\r\n" LAST "Content-Length: 100\r\n\r\n"
     "0123456789012345678901234567890123456789012345678901234567890123456789"
     "012345678901234567890123456789",
     200,
     "0123456789012345678901234567890123456789012345678901234567890123456789"
     "012345678901234567890123456789",
     0},
    {"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n"
     "0123456789012345678901234567890123456789012345678901234567890123456789"
     "0123456789012345678901234567890",
     0, "the answer is larger than 100 bytes", ERR_EXHAUSTED},
    {"", 0, "Empty reply from server", ERR_UNAVAILABLE},
    {"no HTTP at all\r\n\r\n", 0, "Received HTTP/0.9 when not allowed", ERR_UNAVAILABLE},
    {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", 0,
     "transfer closed with 7 bytes remaining to read", ERR_UNAVAILABLE},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", 0,
     "transfer closed with outstanding read data remaining", ERR_UNAVAILABLE},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 0,
     "Illegal or missing hexadecimal sequence in chunked-encoding", ERR_UNAVAILABLE},
    {"HTTP/1.1 200 OK\r\nContent-Le", 0, "the connection was closed before an answer arrived",
     ERR_UNAVAILABLE},
};

/* One answer to each request, then the end of the connection. */
static void serve_answers(int fd, unsigned n, void *ctx)
{
    char request[LONGEST];

    (void)ctx;
    if (raw_read_request(fd, request, sizeof request) && n < COUNT_OF(answers))
        raw_write(fd, answers[n].answer);
}

static void get_answers(struct task *self, struct on_loop *env)
{
    struct raw_server *server = raw_server_start(serve_answers, NULL);
    const char *url = raw_server_url(server);

    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        CLEANUP(http_response_finip) struct http_response response = {0};
        struct http_request request = on_loop_request(env, "PUT", url, 5000);

        request.max_response = 100;
        struct err *err = http_exchange(self, env->transport, &request, &response);
        if (answers[i].status) {
            assert_ok(err);
            assert_int_equal(response.status, answers[i].status);
            assert_string_equal(response.body, answers[i].body_or_fault);
            assert_int_equal(response.body_length, strlen(answers[i].body_or_fault));
            assert_null(http_header_find(response.headers, response.n_headers, "Retry-After"));
        } else {
            CLEANUP(freep) char *fault = mem_printf("PUT %s: %s", url, answers[i].body_or_fault);
            assert_fails(err, answers[i].kind, fault);
            assert_null(response.body);
        }
    }
    raw_server_stop(server);
}

static void test_answers_of_every_kind(void **state)
{
    (void)state;
    run_on_loop(NULL, get_answers, NULL);
}

static void serve_many_headers(int fd, unsigned n, void *ctx)
{
    char request[LONGEST], line[64];

    (void)n, (void)ctx;
    raw_read_request(fd, request, sizeof request);
    raw_write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Spaces: \t a b \t\r\nX-None:\r\n");
    for (int i = 0; i < 2 * HTTP_MAX_HEADERS; i++) {
        snprintf(line, sizeof line, "X-%d: %d\r\n", i, i);
        raw_write(fd, line);
    }
    raw_write(fd, "\r\n");
}

static void get_headers(struct task *self, struct on_loop *env)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    struct raw_server *server = raw_server_start(serve_many_headers, NULL);
    struct http_request request = on_loop_request(env, NULL, raw_server_url(server), 5000);

    assert_ok(http_exchange(self, env->transport, &request, &response));
    assert_int_equal(response.n_headers, HTTP_MAX_HEADERS);
    const struct http_header *headers = response.headers;
    assert_string_equal(http_header_find(headers, response.n_headers, "x-spaces"), "a b");
    assert_string_equal(http_header_find(headers, response.n_headers, "X-None"), "");
    assert_string_equal(http_header_find(headers, response.n_headers, "X-60"), "60");
    raw_server_stop(server);
}

static void test_headers_are_bounded(void **state)
{
    (void)state;
    run_on_loop(NULL, get_headers, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_as_they_are_sent),
        cmocka_unit_test(test_a_large_body_is_sent_at_once),
        cmocka_unit_test(test_proxies),
        cmocka_unit_test(test_answers_of_every_kind),
        cmocka_unit_test(test_headers_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
