#include "lib/http/probes.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

enum {
    LARGEST_METRICS = 4 * 1024 * 1024,
    MAX_CONNECTIONS = 32,
    MAX_PER_ADDRESS = 8, /* kubelet has two at most, Prometheus one */
    LARGEST_BODY = 1024, /* nobody needs any */
    LIMIT_MS = 10 * 1000,
};

struct probes {
    struct probes_config config;
    struct http_server *server;
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

void probes_answer(const struct probes_config *config, const struct http_call *call,
                   struct http_reply *reply)
{
    if (strcmp(call->path, "/metrics") == 0)
        metrics(config, reply);
    else if (strcmp(call->path, "/readyz") == 0)
        readyz(config, reply);
    else
        http_reply_text(reply, 200, "ok\n");
}

static void answer(struct task *self, void *ctx, const struct http_call *call,
                   struct http_reply *reply)
{
    const struct probes *probes = ctx;

    (void)self;
    probes_answer(&probes->config, call, reply);
}

static const struct http_route routes[] = {PROBES_ROUTES(answer)};

struct err *probes_new(struct loop *loop, const struct probes_config *config,
                       struct probes **ret_probes)
{
    CLEANUP(freep) struct probes *probes = mem_alloc(sizeof *probes);

    probes->config = *config;
    TRY(http_server_new(loop,
                        &(struct http_server_config){
                            .address = config->address,
                            .routes = routes,
                            .n_routes = COUNT_OF(routes),
                            .ctx = probes,
                            .max_body = LARGEST_BODY,
                            .max_connections = MAX_CONNECTIONS,
                            .max_per_address = MAX_PER_ADDRESS,
                            .request_ms = LIMIT_MS,
                            .reply_ms = LIMIT_MS,
                        },
                        &probes->server));
    *ret_probes = TAKE_PTR(probes);
    return NULL;
}

void probes_close(struct task *self, struct probes *probes)
{
    if (!probes)
        return;
    http_server_close(self, probes->server);
    free(probes);
}
