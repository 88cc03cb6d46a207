/* A server whose certificate is renewed while it serves. */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/http/server.h"
#include "test/unit/lib/http/authority.h"
#include "test/unit/lib/http/on_loop.h"

static struct {
    struct authority first, second;
    struct credentials old, renewed;
} pki;

static int make_pki(void **state)
{
    (void)state;
    authority_init(&pki.first, "first");
    authority_init(&pki.second, "second");
    authority_issue(&pki.first, "old", &pki.old);
    authority_issue(&pki.second, "renewed", &pki.renewed);
    return 0;
}

static int drop_pki(void **state)
{
    (void)state;
    authority_fini(&pki.first);
    authority_fini(&pki.second);
    credentials_fini(&pki.old);
    credentials_fini(&pki.renewed);
    return 0;
}

static void count(struct task *self, void *ctx, const struct http_call *call,
                  struct http_reply *reply)
{
    (void)self, (void)call, (void)reply;
    ++*(unsigned *)ctx;
}

static const struct http_route routes[] = {{NULL, "/", count}};

/* By a connection that there is already, if there is one. */
static struct err *ask(struct task *self, struct on_loop *env, struct http_client *client,
                       const char *url)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    struct http_request request = on_loop_request(env, "GET", url, 20 * 1000);

    return http_exchange(self, http_client_transport(client), &request, &response);
}

/* By a client of its own, and so by a new connection. */
static bool is_trusted_by(struct task *self, struct on_loop *env, const char *url,
                          const struct authority *authority)
{
    const struct http_client_config config = {.proxy = "", .ca_pem = authority->pem};
    struct http_client *client;

    assert_ok(http_client_new(env->loop, &config, &client));
    CLEANUP(err_freep) struct err *err = ask(self, env, client, url);
    http_client_free(client);
    return !err;
}

static void renew_twice(struct task *self, struct on_loop *env)
{
    unsigned calls = 0;
    struct http_server *server;
    const struct http_server_config config = {.address = "127.0.0.1:0",
                                              .certificate_pem = pki.old.certificate_pem,
                                              .key_pem = pki.old.key_pem,
                                              .routes = routes,
                                              .n_routes = COUNT_OF(routes),
                                              .ctx = &calls};

    assert_ok(http_server_new(env->loop, &config, &server));
    CLEANUP(freep) char *url = mem_printf("https://127.0.0.1:%u/", http_server_port(server));
    assert_ok(ask(self, env, env->client, url));

    assert_ok(http_server_renew(server, pki.renewed.certificate_pem, pki.renewed.key_pem));
    assert_true(is_trusted_by(self, env, url, &pki.second));
    assert_false(is_trusted_by(self, env, url, &pki.first));
    assert_ok(ask(self, env, env->client, url)); /* whose connection is the one of before */

    assert_ok(http_server_renew(server, pki.old.certificate_pem, pki.old.key_pem));
    assert_true(is_trusted_by(self, env, url, &pki.first));
    assert_false(is_trusted_by(self, env, url, &pki.second));

    assert_fails(http_server_renew(server, pki.old.certificate_pem, pki.renewed.key_pem),
                 ERR_INVALID, "the private key does not belong to the certificate");
    assert_true(is_trusted_by(self, env, url, &pki.first));
    assert_int_equal(calls, 5);
    http_server_close(self, server);
}

static void test_connections_from_then_on_see_the_new_one(void **state)
{
    const struct http_client_config config = {.proxy = "", .ca_pem = pki.first.pem};

    (void)state;
    run_on_loop(&config, renew_twice, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connections_from_then_on_see_the_new_one),
    };

    return cmocka_run_group_tests(tests, make_pki, drop_pki);
}
