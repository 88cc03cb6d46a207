#include "lib/http/probes.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"

enum {
    LARGEST_METRICS = 4 * 1024 * 1024,
    MAX_CONNECTIONS = 32,
    MAX_PER_ADDRESS = 8, /* kubelet has two at most, Prometheus one */
    LARGEST_BODY = 1024, /* nobody needs any */
    LIMIT_MS = 10 * 1000,
    RETRY_MS = 2 * 1000, /* of a patient one */
};

struct probes {
    struct loop *loop;
    struct probes_config config;
    struct http_server *server; /* NULL: the address is another process's */
    struct timer retry;
};

static void readyz(const struct probes_config *config, struct http_reply *reply)
{
    CLEANUP(err_freep) struct err *err = config->ready(config->ctx);

    if (err)
        http_reply_text(reply, 503, "%s\n", err_message(err));
    else
        http_reply_text(reply, 200, "ok\n");
}

static void metrics(const struct probes_config *config, struct http_reply *reply)
{
    struct buffer text;

    if (config->refresh)
        config->refresh(config->ctx);
    buffer_init(&text, LARGEST_METRICS);
    metrics_write(config->metrics, config->n_metrics, &text);
    http_reply_body(reply, 200, "text/plain; version=0.0.4; charset=utf-8", buffer_take(&text));
}

static void answer(struct task *self, void *ctx, const struct http_call *call,
                   struct http_reply *reply)
{
    const struct probes_config *config = &((const struct probes *)ctx)->config;

    (void)self;
    if (strcmp(call->path, "/metrics") == 0)
        metrics(config, reply);
    else if (strcmp(call->path, "/readyz") == 0)
        readyz(config, reply);
    else
        http_reply_text(reply, 200, "ok\n");
}

static const struct http_route routes[] = {
    {"GET", "/healthz", answer},
    {"GET", "/readyz", answer},
    {"GET", "/metrics", answer}, /* the last: not of all probes */
};

static struct err *serve(struct probes *probes)
{
    const struct http_server_config config = {
        .address = probes->config.address,
        .certificate_pem = probes->config.certificate_pem,
        .key_pem = probes->config.key_pem,
        .client_ca_pem = probes->config.client_ca_pem,
        .routes = routes,
        .n_routes = COUNT_OF(routes) - (probes->config.metrics ? 0 : 1),
        .ctx = probes,
        .max_body = LARGEST_BODY,
        .max_connections = MAX_CONNECTIONS,
        .max_per_address = MAX_PER_ADDRESS,
        .request_ms = LIMIT_MS,
        .reply_ms = LIMIT_MS,
    };

    return http_server_new(probes->loop, &config, &probes->server);
}

/* In host networks two pods of one Deployment may be on a node, and one of them may soon go. */
static void serve_patiently(void *ctx)
{
    struct probes *probes = ctx;
    CLEANUP(err_freep) struct err *err = serve(probes);

    if (!err) {
        log_info("%s is free now, serving on it", probes->config.address);
        return;
    }
    loop_start_timer(probes->loop, &probes->retry, loop_deadline(probes->loop, RETRY_MS),
                     serve_patiently, probes);
}

struct err *probes_new(struct loop *loop, const struct probes_config *config,
                       struct probes **ret_probes)
{
    CLEANUP(freep) struct probes *probes = mem_alloc(sizeof *probes);

    probes->loop = loop;
    probes->config = *config;
    struct err *err = serve(probes);
    if (err && config->patient && err_kind(err) == ERR_BUSY) {
        log_warning("%s; waiting until the other process that serves there has exited",
                    err_message(err));
        err_free(err);
        serve_patiently(probes);
    } else if (err) {
        return err;
    }
    *ret_probes = TAKE_PTR(probes);
    return NULL;
}

void probes_close(struct task *self, struct probes *probes)
{
    if (!probes)
        return;
    loop_stop_timer(probes->loop, &probes->retry);
    http_server_close(self, probes->server);
    free(probes);
}
