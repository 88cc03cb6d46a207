#include "scheduler-extender/service.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "scheduler-extender/extender_answer.h"
#include "scheduler-extender/extender_args.h"
#include "scheduler-extender/metrics.h"
#include "scheduler-extender/placement.h"

/* A scheduler has one call under way; the rest are probes and what else may come. Each connection
 * may hold a whole request. */
enum { MAX_CONNECTIONS = 64 };

struct service {
    struct service_config config;
    struct http_server *server;
};

/* ---- the two questions ---- */

static struct err *prioritize(struct task *self, const struct extender *extender,
                              const struct http_call *call, char **ret_answer)
{
    CLEANUP(extender_args_fini) struct extender_args args = {0};

    TRY(extender_args_parse(self, call->body, call->body_length, &args));
    CLEANUP(freep) unsigned *scores = mem_alloc(args.n_nodes * sizeof *scores);
    placement_scores(extender, args.pod, args.names, args.n_nodes, scores);
    *ret_answer = answer_scores(&args, scores);
    return NULL;
}

static struct err *filter(struct task *self, const struct extender *extender,
                          const struct http_call *call, char **ret_answer)
{
    CLEANUP(extender_args_fini) struct extender_args args = {0};

    TRY(extender_args_parse(self, call->body, call->body_length, &args));
    CLEANUP(freep) bool *allowed = mem_alloc(args.n_nodes * sizeof *allowed);
    placement_filter(extender, args.pod, args.names, args.n_nodes, allowed);
    *ret_answer = answer_filter(&args, allowed);
    return NULL;
}

/* ---- their HTTP ---- */

static const struct {
    const char *name;
    struct err *(*answer)(struct task *self, const struct extender *extender,
                          const struct http_call *call, char **ret_answer);
} verbs[] = {
    [VERB_FILTER] = {"filter", filter},
    [VERB_PRIORITIZE] = {"prioritize", prioritize},
};

static void handle(struct task *self, const struct extender *extender, enum verb verb,
                   const struct http_call *call, struct http_reply *reply)
{
    int64_t began = loop_wall_us(extender->loop);
    char *answer;
    CLEANUP(err_freep)
    struct err *err = verbs[verb].answer(self, extender, call, &answer);
    int64_t lasted = loop_wall_us(extender->loop) - began;

    if (err) {
        log_warning("%s: %s", verbs[verb].name, err_message(err));
        http_reply_text(reply, 400, "%s\n", err_message(err));
    } else {
        http_reply_body(reply, 200, "application/json", answer);
    }
    /* The wall clock may have been set back meanwhile. */
    metrics_count(verb, err, lasted > 0 ? (double)lasted / 1e6 : 0);
    log_debug("%s: %zu bytes, %ld us", verbs[verb].name, call->body_length, (long)lasted);
}

static void on_filter(struct task *self, void *ctx, const struct http_call *call,
                      struct http_reply *reply)
{
    handle(self, ((const struct service *)ctx)->config.extender, VERB_FILTER, call, reply);
}

static void on_prioritize(struct task *self, void *ctx, const struct http_call *call,
                          struct http_reply *reply)
{
    handle(self, ((const struct service *)ctx)->config.extender, VERB_PRIORITIZE, call, reply);
}

static void on_ping(struct task *self, void *ctx, const struct http_call *call,
                    struct http_reply *reply)
{
    (void)self, (void)ctx, (void)call;
    http_reply_text(reply, 200, "ok\n");
}

static void on_probe(struct task *self, void *ctx, const struct http_call *call,
                     struct http_reply *reply)
{
    (void)self;
    probes_answer(&((const struct service *)ctx)->config.probes, call, reply);
}

static const struct http_route routes[] = {
    {"POST", "/filter", on_filter},
    {"POST", "/prioritize", on_prioritize},
    {"POST", "/azdiskschedulerextender/filter", on_filter},
    {"POST", "/azdiskschedulerextender/prioritize", on_prioritize},
    {"GET", "/ping", on_ping},
    PROBES_ROUTES(on_probe),
};

/* ---- the service ---- */

struct err *service_new(struct loop *loop, const struct service_config *config,
                        struct service **ret)
{
    CLEANUP(freep) struct service *service = mem_alloc(sizeof *service);

    service->config = *config;
    TRY(http_server_new(loop,
                        &(struct http_server_config){
                            .address = config->address,
                            .certificate_pem = config->certificate_pem,
                            .key_pem = config->key_pem,
                            .routes = routes,
                            .n_routes = COUNT_OF(routes),
                            .ctx = service,
                            .max_body = EXTENDER_MAX_REQUEST,
                            .max_connections = MAX_CONNECTIONS,
                        },
                        &service->server));
    *ret = TAKE_PTR(service);
    return NULL;
}

void service_close(struct task *self, struct service *service)
{
    if (!service)
        return;
    http_server_close(self, service->server);
    free(service);
}
