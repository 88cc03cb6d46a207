/* Client and server over TLS: who trusts whom, and what is said when one does not. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "lib/base/alloc.h"
#include "lib/http/server.h"
#include "lib/rt/group.h"
#include "lib/rt/thread_pool.h"
#include "test/unit/lib/http/authority.h"
#include "test/unit/lib/http/on_loop.h"
#include "test/unit/lib/http/raw_server.h"

enum { LARGE = 1024 * 1024, MANY = 50 };

static struct {
    struct authority ours, foreign;
    struct credentials server, client, stranger;
} pki;

static int make_pki(void **state)
{
    (void)state;
    authority_init(&pki.ours, "ours");
    authority_init(&pki.foreign, "foreign");
    authority_issue(&pki.ours, "server", &pki.server);
    authority_issue(&pki.ours, "client", &pki.client);
    authority_issue(&pki.foreign, "stranger", &pki.stranger);
    return 0;
}

static int drop_pki(void **state)
{
    (void)state;
    authority_fini(&pki.ours);
    authority_fini(&pki.foreign);
    credentials_fini(&pki.server);
    credentials_fini(&pki.client);
    credentials_fini(&pki.stranger);
    return 0;
}

static struct err *get(struct task *self, struct on_loop *env, const char *url,
                       struct http_response *ret)
{
    struct http_request request = {.url = url, .deadline = loop_deadline(env->loop, 20 * 1000)};

    return http_exchange(self, env->transport, &request, ret);
}

/* ---- our own server ---- */

static void mirror(struct task *self, void *ctx, const struct http_call *call,
                   struct http_reply *reply)
{
    (void)self, (void)ctx;
    reply->body = mem_copy(call->body, call->body_length);
    reply->body_length = call->body_length;
}

static const struct http_route routes[] = {{NULL, "/", mirror}};

static struct http_server *start_server(struct on_loop *env, const struct credentials *credentials)
{
    struct http_server *server;
    struct http_server_config config = {
        .address = "127.0.0.1:0",
        .certificate_pem = credentials ? credentials->certificate_pem : NULL,
        .key_pem = credentials ? credentials->key_pem : NULL,
        .routes = routes,
        .n_routes = COUNT_OF(routes),
        .max_body = LARGE,
    };

    assert_ok(http_server_new(env->loop, &config, &server));
    return server;
}

struct post {
    struct on_loop *env;
    const char *url;
    size_t length;
};

static void post_and_compare(struct task *self, void *arg)
{
    struct post *post = arg;
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(freep) char *body = mem_alloc(post->length + 1);
    struct http_request request = {.method = "POST",
                                   .url = post->url,
                                   .body = body,
                                   .body_length = post->length,
                                   .deadline = loop_deadline(post->env->loop, 20 * 1000)};

    for (size_t i = 0; i < post->length; i++)
        body[i] = (char)('a' + i % 23);
    assert_ok(http_exchange(self, post->env->transport, &request, &response));
    assert_int_equal(response.body_length, post->length);
    assert_memory_equal(response.body, body, post->length);
}

static void exchange_much(struct task *self, struct on_loop *env)
{
    struct http_server *server = start_server(env, &pki.server);
    CLEANUP(freep) char *url = mem_printf("https://127.0.0.1:%u/", http_server_port(server));
    struct post posts[MANY];
    struct task_group group;

    group_init(&group, env->loop);
    for (size_t i = 0; i < MANY; i++) {
        posts[i] = (struct post){env, url, LARGE >> i % 20};
        group_spawn(&group, "post", post_and_compare, &posts[i]);
    }
    while (group.n_members > 0)
        wait_uninterruptible(self, &group.ended);
    http_server_close(self, server);
}

static void test_many_large_bodies(void **state)
{
    const struct http_client_config config = {.proxy = "", .ca_pem = pki.ours.pem};

    (void)state;
    run_on_loop(&config, exchange_much, NULL);
}

/* ---- trust ---- */

struct trust {
    const char *why, *ca, *scheme, *host;
    const struct credentials *server; /* NULL: no TLS */
    const char *fault;                /* a part of the message; NULL: none */
};

/* What is not trusted is sent nothing. */
static void try_to_trust(struct task *self, struct on_loop *env)
{
    const struct trust *row = env->ctx;
    struct http_server *server = start_server(env, row->server);
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(freep)
    char *url = mem_printf("%s://%s:%u/", row->scheme, row->host, http_server_port(server));
    CLEANUP(err_freep) struct err *err = get(self, env, url, &response);
    enum err_kind kind = strcmp(row->scheme, "https") == 0 ? ERR_NOT_SENT : ERR_UNAVAILABLE;
    bool as_told =
        row->fault ? err && err_kind(err) == kind && strstr(err_message(err), row->fault) : !err;

    if (!as_told)
        fail_msg("%s: %s", row->why, err ? err_message(err) : "success");
    http_server_close(self, server);
}

static void test_trust(void **state)
{
    CLEANUP(freep) char *both = mem_printf("%s\n# and\n%s", pki.foreign.pem, pki.ours.pem);
    struct trust rows[] = {
        {"ours", pki.ours.pem, "https", "127.0.0.1", &pki.server, NULL},
        {"a bundle", both, "https", "127.0.0.1", &pki.server, NULL},
        {"a foreign authority", pki.foreign.pem, "https", "127.0.0.1", &pki.server,
         "SSL certificate problem: unable to get local issuer certificate"},
        {"a foreign server", pki.ours.pem, "https", "127.0.0.1", &pki.stranger,
         "SSL certificate problem: unable to get local issuer certificate"},
        {"the system's authorities", NULL, "https", "127.0.0.1", &pki.server,
         "SSL certificate problem: unable to get local issuer certificate"},
        {"another name", pki.ours.pem, "https", "localhost", &pki.server,
         "SSL: no alternative certificate subject name matches target host name 'localhost'"},
        {"no TLS there: nonsense or a reset, as it comes", pki.ours.pem, "https", "127.0.0.1", NULL,
         "OpenSSL"},
        {"no TLS here: a reset or an end, as it comes", pki.ours.pem, "http", "127.0.0.1",
         &pki.server, ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct http_client_config config = {.proxy = "", .ca_pem = rows[i].ca};

        run_on_loop(&config, try_to_trust, &rows[i]);
    }
}

/* ---- what is refused at the start ---- */

static void test_unusable_credentials_are_named(void **state)
{
    const struct {
        struct http_client_config config;
        enum err_kind kind;
        const char *fault;
    } rows[] = {
        {{.ca_pem = "x"},
         ERR_INVALID,
         "certificate authority: no PEM certificate can be read: error:0480006C:PEM routines::no "
         "start line"},
        {{.ca_file = "/no/such/file"},
         ERR_NOT_FOUND,
         "certificate authority: /no/such/file: No such file or directory"},
        {{.certificate_pem = pki.client.certificate_pem, .key_pem = pki.server.key_pem},
         ERR_INVALID,
         "client certificate: the private key does not belong to the certificate"},
    };
    CLEANUP(loop_freep) struct loop *loop = loop_new();
    struct http_client *client;
    struct http_server *server;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_fails(http_client_new(loop, &rows[i].config, &client), rows[i].kind, rows[i].fault);

    struct http_server_config config = {.address = "127.0.0.1:0",
                                        .certificate_pem = pki.server.certificate_pem,
                                        .key_pem = pki.client.key_pem};
    assert_fails(http_server_new(loop, &config, &server), ERR_INVALID,
                 "the private key does not belong to the certificate");
    config.key_pem = pki.server.key_pem;
    config.client_ca_pem = "x";
    assert_fails(http_server_new(loop, &config, &server), ERR_INVALID,
                 "certificate authority of clients: no PEM certificate can be read: "
                 "error:0480006C:PEM routines::no start line");
}

static void trust_a_file(struct task *self, struct on_loop *env)
{
    struct trust row = {.scheme = "https", .host = "127.0.0.1", .server = &pki.server};
    struct on_loop trusting = *env;

    unlink(env->ctx); /* it was read before */
    trusting.ctx = &row;
    try_to_trust(self, &trusting);
}

static void test_authorities_from_a_file(void **state)
{
    char path[] = "/tmp/test_tls.XXXXXX";
    int fd = mkstemp(path);
    const struct http_client_config config = {.proxy = "", .ca_file = path};

    (void)state;
    assert_true(write(fd, pki.ours.pem, strlen(pki.ours.pem)) > 0);
    close(fd);
    run_on_loop(&config, trust_a_file, path);
}

/* ---- client certificates ---- */

static X509 *certificate_of(const char *pem)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);

    BIO_free(bio);
    return certificate;
}

static SSL_CTX *demanding_context(void)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    X509 *certificate = certificate_of(pki.server.certificate_pem);
    BIO *bio = BIO_new_mem_buf(pki.server.key_pem, -1);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);

    SSL_CTX_use_certificate(context, certificate);
    SSL_CTX_use_PrivateKey(context, key);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), pki.ours.certificate);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    X509_free(certificate);
    EVP_PKEY_free(key);
    BIO_free(bio);
    return context;
}

/* Answers with the name in the client's certificate. */
static void serve_name(int fd, unsigned n, void *ctx)
{
    char request[4096], name[64] = "";
    SSL *ssl = SSL_new(ctx);

    (void)n;
    SSL_set_fd(ssl, fd);
    if (SSL_accept(ssl) == 1 && SSL_read(ssl, request, sizeof request) > 0) {
        X509 *peer = SSL_get1_peer_certificate(ssl);
        X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, name, sizeof name);
        CLEANUP(freep)
        char *answer =
            mem_printf("HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(name), name);
        SSL_write(ssl, answer, (int)strlen(answer));
        X509_free(peer);
    }
    SSL_shutdown(ssl);
    shutdown(fd, SHUT_WR);
    raw_wait_closed(fd); /* so that the client sees why */
    SSL_free(ssl);
    ERR_clear_error();
}

static void show_certificate(struct task *self, struct on_loop *env)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    SSL_CTX *context = demanding_context();
    struct raw_server *server = raw_server_start(serve_name, context);
    CLEANUP(freep) char *url = mem_printf("https://127.0.0.1:%u/", raw_server_port(server));
    struct err *err = get(self, env, url, &response);

    if (env->ctx) {
        assert_ok(err);
        assert_string_equal(response.body, env->ctx);
    } else {
        assert_non_null(err);
        assert_int_equal(err_kind(err), ERR_UNAVAILABLE);
        if (!strstr(err_message(err), "certificate required") &&
            !strstr(err_message(err), "unknown ca"))
            fail_msg("%s", err_message(err));
        err_free(err);
    }
    raw_server_stop(server);
    SSL_CTX_free(context);
}

static void test_client_certificates(void **state)
{
    struct http_client_config config = {.proxy = "",
                                        .ca_pem = pki.ours.pem,
                                        .certificate_pem = pki.client.certificate_pem,
                                        .key_pem = pki.client.key_pem};
    char name[] = "client";

    (void)state;
    run_on_loop(&config, show_certificate, name);
    config.certificate_pem = pki.stranger.certificate_pem;
    config.key_pem = pki.stranger.key_pem;
    run_on_loop(&config, show_certificate, NULL);
    config.certificate_pem = config.key_pem = NULL;
    run_on_loop(&config, show_certificate, NULL);
}

/* ---- our own server's clients ---- */

static unsigned handled;

static void count(struct task *self, void *ctx, const struct http_call *call,
                  struct http_reply *reply)
{
    handled++;
    mirror(self, ctx, call, reply);
}

static const struct http_route counted[] = {{NULL, "/", count}};

static void be_asked_who_we_are(struct task *self, struct on_loop *env)
{
    const bool *welcome = env->ctx;
    CLEANUP(http_response_finip) struct http_response response = {0};
    struct http_server *server;
    struct http_server_config config = {
        .address = "127.0.0.1:0",
        .certificate_pem = pki.server.certificate_pem,
        .key_pem = pki.server.key_pem,
        .client_ca_pem = pki.ours.pem,
        .routes = counted,
        .n_routes = COUNT_OF(counted),
    };

    handled = 0;
    assert_ok(http_server_new(env->loop, &config, &server));
    CLEANUP(freep) char *url = mem_printf("https://127.0.0.1:%u/", http_server_port(server));
    CLEANUP(err_freep) struct err *err = get(self, env, url, &response);
    if (*welcome != !err) /* which end of the conversation is seen is chance */
        fail_msg("%s", err ? err_message(err) : "success");
    assert_int_equal(handled, *welcome ? 1 : 0);
    http_server_close(self, server);
}

static void test_a_client_without_a_certificate_gets_nothing(void **state)
{
    struct http_client_config config = {.proxy = "", .ca_pem = pki.ours.pem};
    bool welcome = false;

    (void)state;
    run_on_loop(&config, be_asked_who_we_are, &welcome);
    config.certificate_pem = pki.stranger.certificate_pem;
    config.key_pem = pki.stranger.key_pem;
    run_on_loop(&config, be_asked_who_we_are, &welcome);
    config.certificate_pem = pki.client.certificate_pem;
    config.key_pem = pki.client.key_pem;
    welcome = true;
    run_on_loop(&config, be_asked_who_we_are, &welcome);
}

/* The key of any server of the cluster would open ours, else. */
static void test_a_servers_certificate_is_no_clients(void **state)
{
    static const char *const uses[] = {"serverAuth", "clientAuth"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(uses); i++) {
        struct credentials credentials;
        bool welcome = strcmp(uses[i], "clientAuth") == 0;

        authority_issue_for(&pki.ours, "for one use", uses[i], &credentials);
        const struct http_client_config config = {.proxy = "",
                                                  .ca_pem = pki.ours.pem,
                                                  .certificate_pem = credentials.certificate_pem,
                                                  .key_pem = credentials.key_pem};
        run_on_loop(&config, be_asked_who_we_are, &welcome);
        credentials_fini(&credentials);
    }
}

/* A handshake with one version of TLS, as permissive as OpenSSL can be. */
struct handshake {
    unsigned port;
    int version;
    bool done;
};

static void shake_hands(void *arg)
{
    struct handshake *handshake = arg;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)handshake->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_min_proto_version(context, handshake->version);
    SSL_CTX_set_max_proto_version(context, handshake->version);
    SSL *ssl = SSL_new(context);
    SSL_set_fd(ssl, fd);
    handshake->done =
        connect(fd, (struct sockaddr *)&address, sizeof address) == 0 && SSL_connect(ssl) == 1;
    SSL_free(ssl);
    SSL_CTX_free(context);
    close(fd);
    ERR_clear_error();
}

static void try_versions(struct task *self, struct on_loop *env)
{
    const struct {
        int version;
        bool done;
    } rows[] = {
        {TLS1_VERSION, false},
        {TLS1_1_VERSION, false},
        {TLS1_2_VERSION, true},
        {TLS1_3_VERSION, true},
    };
    struct http_server *server = start_server(env, &pki.server);
    struct thread_pool *pool = thread_pool_new(env->loop, 1, 1);

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct handshake handshake = {http_server_port(server), rows[i].version, false};

        assert_ok(thread_pool_run(self, pool, shake_hands, &handshake));
        if (handshake.done != rows[i].done)
            fail_msg("version %x: %s", (unsigned)rows[i].version,
                     handshake.done ? "taken" : "refused");
    }
    thread_pool_free(pool);
    http_server_close(self, server);
}

static void test_versions_before_1_2_are_refused(void **state)
{
    (void)state;
    run_on_loop(NULL, try_versions, NULL);
}

/* ---- a peer that goes while we send ---- */

static void serve_reset(int fd, unsigned n, void *ctx)
{
    char some[1000];
    struct linger abort_on_close = {.l_onoff = 1};
    SSL *ssl = SSL_new(ctx);

    (void)n;
    SSL_set_fd(ssl, fd);
    if (SSL_accept(ssl) == 1)
        SSL_read(ssl, some, sizeof some);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort_on_close, sizeof abort_on_close);
    SSL_free(ssl);
}

static void send_into_nothing(struct task *self, struct on_loop *env)
{
    SSL_CTX *context = demanding_context();
    struct raw_server *server = raw_server_start(serve_reset, context);
    CLEANUP(freep) char *url = mem_printf("https://127.0.0.1:%u/", raw_server_port(server));
    CLEANUP(freep) char *body = mem_alloc(8 * LARGE);
    struct http_response response;
    struct http_request request = {.method = "PUT",
                                   .url = url,
                                   .body = body,
                                   .body_length = 8 * LARGE,
                                   .deadline = loop_deadline(env->loop, 20 * 1000)};
    struct err *err = http_exchange(self, env->transport, &request, &response);

    assert_int_equal(err_kind(err), ERR_UNAVAILABLE);
    err_free(err);
    raw_server_stop(server);
    SSL_CTX_free(context);
}

static void test_a_reset_while_sending(void **state)
{
    const struct http_client_config config = {.proxy = "",
                                              .ca_pem = pki.ours.pem,
                                              .certificate_pem = pki.client.certificate_pem,
                                              .key_pem = pki.client.key_pem};

    (void)state;
    run_on_loop(&config, send_into_nothing, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_large_bodies),
        cmocka_unit_test(test_trust),
        cmocka_unit_test(test_unusable_credentials_are_named),
        cmocka_unit_test(test_authorities_from_a_file),
        cmocka_unit_test(test_client_certificates),
        cmocka_unit_test(test_a_client_without_a_certificate_gets_nothing),
        cmocka_unit_test(test_a_servers_certificate_is_no_clients),
        cmocka_unit_test(test_versions_before_1_2_are_refused),
        cmocka_unit_test(test_a_reset_while_sending),
    };

    return cmocka_run_group_tests(tests, make_pki, drop_pki);
}
