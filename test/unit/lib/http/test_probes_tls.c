/* Probes and metrics by HTTPS: who is answered, and who keeps nobody else from being answered. */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/http/probes.h"
#include "test/unit/lib/http/authority.h"
#include "test/unit/lib/http/on_loop.h"
#include "test/unit/lib/http/strangers.h"

enum { STRANGERS = 200 };

static struct {
    struct authority ours, foreign;
    struct credentials server, reader, stranger;
} pki;

static int make_pki(void **state)
{
    (void)state;
    authority_init(&pki.ours, "ours");
    authority_init(&pki.foreign, "foreign");
    authority_issue_for(&pki.ours, "server", "serverAuth", &pki.server);
    authority_issue_for(&pki.ours, "reader", "clientAuth", &pki.reader);
    authority_issue_for(&pki.foreign, "stranger", "clientAuth", &pki.stranger);
    return 0;
}

static int drop_pki(void **state)
{
    (void)state;
    authority_fini(&pki.ours);
    authority_fini(&pki.foreign);
    credentials_fini(&pki.server);
    credentials_fini(&pki.reader);
    credentials_fini(&pki.stranger);
    return 0;
}

static struct metric turns = {.name = "test_turns", .help = "Turns.", .type = METRIC_GAUGE};
static struct metric *const metrics[] = {&turns};

static struct err *ready(void *ctx)
{
    (void)ctx;
    return NULL;
}

static struct probes *start(struct on_loop *env, const char *address, const char *client_ca_pem)
{
    const struct probes_config config = {
        .address = address,
        .certificate_pem = pki.server.certificate_pem,
        .key_pem = pki.server.key_pem,
        .client_ca_pem = client_ca_pem,
        .metrics = metrics,
        .n_metrics = COUNT_OF(metrics),
        .ready = ready,
    };
    struct probes *probes;

    assert_ok(probes_new(env->loop, &config, &probes));
    return probes;
}

static struct err *scrape(struct task *self, struct on_loop *env, const char *scheme,
                          const char *address)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(freep) char *url = mem_printf("%s://%s/metrics", scheme, address);
    struct http_request request = on_loop_request(env, "GET", url, 20 * 1000);

    TRY(http_exchange(self, env->transport, &request, &response));
    assert_int_equal(response.status, 200);
    assert_non_null(strstr(response.body, "# TYPE test_turns gauge"));
    return NULL;
}

/* ---- who is answered ---- */

struct reader {
    const char *why, *scheme, *trusted;
    const struct credentials *shown; /* NULL: none */
    const char *client_ca;           /* that the server asks for; NULL: it asks nobody */
    bool answered;
};

static void read_as(struct task *self, struct on_loop *env)
{
    const struct reader *row = env->ctx;
    CLEANUP(freep) char *address = free_address();
    struct probes *probes = start(env, address, row->client_ca);
    CLEANUP(err_freep) struct err *err = scrape(self, env, row->scheme, address);

    if (row->answered != !err)
        fail_msg("%s: %s", row->why, err ? err_message(err) : "answered");
    probes_close(self, probes);
}

static void test_who_is_answered(void **state)
{
    const char *ours = pki.ours.pem, *foreign = pki.foreign.pem;
    struct reader rows[] = {
        {"anybody", "https", ours, NULL, NULL, true},
        {"plain HTTP", "http", ours, NULL, NULL, false},
        {"who does not trust it", "https", foreign, NULL, NULL, false},
        {"one of theirs", "https", ours, &pki.reader, ours, true},
        {"without a certificate", "https", ours, NULL, ours, false},
        {"with one of another authority", "https", ours, &pki.stranger, ours, false},
        {"with one of a server", "https", ours, &pki.server, ours, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct credentials *shown = rows[i].shown;
        const struct http_client_config config = {
            .proxy = "",
            .ca_pem = rows[i].trusted,
            .certificate_pem = shown ? shown->certificate_pem : NULL,
            .key_pem = shown ? shown->key_pem : NULL,
        };

        run_on_loop(&config, read_as, &rows[i]);
    }
}

/* ---- handshakes that are never completed ---- */

static void read_among_strangers(struct task *self, struct on_loop *env)
{
    CLEANUP(freep) char *address = free_address();
    unsigned port = (unsigned)strtoul(strrchr(address, ':') + 1, NULL, 10);
    struct probes *probes = start(env, address, NULL);
    int strangers[STRANGERS];

    for (size_t i = 0; i < STRANGERS; i++)
        strangers[i] = connect_and_say(port, env->ctx);
    assert_ok(scrape(self, env, "https", address));
    for (size_t i = 0; i < STRANGERS; i++)
        close(strangers[i]);
    probes_close(self, probes);
}

static void test_half_handshakes_keep_no_reader_waiting(void **state)
{
    const struct http_client_config config = {.proxy = "", .ca_pem = pki.ours.pem};
    char nothing[] = "", half_a_hello[] = "\x16\x03\x01\x02\x10\x01\x03"; /* of TLS */

    (void)state;
    run_on_loop(&config, read_among_strangers, nothing);
    run_on_loop(&config, read_among_strangers, half_a_hello);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_is_answered),
        cmocka_unit_test(test_half_handshakes_keep_no_reader_waiting),
    };

    return cmocka_run_group_tests(tests, make_pki, drop_pki);
}
