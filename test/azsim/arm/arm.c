#include "test/azsim/arm/arm.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/rt/wait.h"
#include "test/azsim/arm/charge.h"
#include "test/azsim/arm/fault_injection.h"
#include "test/azsim/arm/gateway.h"
#include "test/azsim/arm/handlers.h"

struct arm {
    struct arm_config config;
};

/* A request with what its handling on the loop's stack needs. */
struct request {
    struct exchange exchange;
    bool path_known;
    int64_t wall_us;
    uint64_t latency_ms;
};

struct arm *arm_new(const struct arm_config *config)
{
    struct arm *arm = mem_alloc(sizeof *arm);

    arm->config = *config;
    if (config->page_size)
        config->model->settings.page_size = config->page_size;
    return arm;
}

void arm_free(struct arm *arm)
{
    free(arm);
}

struct model *arm_model(const struct arm *arm)
{
    return arm->config.model;
}

static struct refusal *check(struct request *request)
{
    struct exchange *exchange = &request->exchange;

    return exchange_speaks_oauth(exchange) ? NULL : gateway_check(exchange, request->path_known);
}

static void handle(struct exchange *exchange)
{
    if (exchange->imds_vm)
        imds_handle(exchange);
    else if (charge_provider(exchange))
        exchange->route->handle(exchange);
}

/* Faults strike what would be handled. */
static void serve(void *arg)
{
    struct request *request = arg;
    struct exchange *exchange = &request->exchange;
    struct refusal *refusal = check(request);

    if (refusal) {
        answer_gateway(exchange, refusal);
    } else if (!fault_injection_before(exchange)) {
        handle(exchange);
        fault_injection_after(exchange);
    }
}

static void write_record(const struct request *request)
{
    const struct exchange *exchange = &request->exchange;
    const struct arm_config *config = exchange->config;
    const struct arm_record record = {
        .call = exchange->call,
        .wall_us = request->wall_us,
        .latency_ms = request->latency_ms,
        .status = exchange->reply->status,
        .retry_after =
            http_header_find(exchange->reply->headers, exchange->reply->n_headers, "Retry-After"),
        .kind = exchange->kind,
        .principal = exchange->principal,
        .resource = exchange->match.name,
        .vm = exchange->imds_vm ? exchange->imds_vm : exchange->vm,
        .attached = exchange->attached,
        .detached = exchange->detached,
        .charges = {&exchange->provider_charge, &exchange->caller_charge},
        .fault = exchange->fault,
    };

    if (config->record)
        config->record(config->record_ctx, &record);
}

static void exchange_fini(struct exchange *exchange)
{
    route_match_fini(&exchange->match);
    json_decref(exchange->attached);
    json_decref(exchange->detached);
    free(exchange->principal);
    free(exchange->vm);
}

/* Waits, acts, waits, as far as the client does not go away. What it did is on record at once: it
 * stays done if the program is killed while it waits. */
static void run(struct task *self, struct request *request, enum latency_kind latency)
{
    struct exchange *exchange = &request->exchange;
    struct model *model = exchange->model;
    uint64_t ms = model_draw(model, latency), before = ms / 2;

    request->wall_us = model_now_us(model);
    request->latency_ms = ms;
    struct err *err = before ? task_sleep(self, before) : NULL;
    if (!err) {
        loop_call(self, serve, request);
        request->latency_ms = ms += exchange->stall_ms;
        write_record(request);
        err = ms ? task_sleep(self, ms - before) : NULL;
    }
    exchange->reply->hang_up |= err != NULL;
    err_free(err);
}

static void init(struct request *request, struct arm *arm, const struct http_call *call,
                 struct http_reply *reply)
{
    *request = (struct request){.exchange = {
                                    .model = arm->config.model,
                                    .config = &arm->config,
                                    .call = call,
                                    .reply = reply,
                                }};
    const char *version = exchange_argument(&request->exchange, "api-version");
    request->exchange.api_version = version ? version : "";
}

void arm_handle(struct task *self, void *ctx, const struct http_call *call,
                struct http_reply *reply)
{
    struct request request;
    struct exchange *exchange = &request.exchange;

    init(&request, ctx, call, reply);
    exchange->route = route_find(call->method, call->path, &exchange->match, &request.path_known);
    exchange->kind = exchange->route ? exchange->route->kind : NULL;
    run(self, &request, exchange->route ? exchange->route->latency : LATENCY_GET);
    exchange_fini(exchange);
}

void arm_imds_handle(struct task *self, void *ctx, const struct http_call *call,
                     struct http_reply *reply)
{
    const struct arm_imds *imds = ctx;
    struct request request;

    init(&request, imds->arm, call, reply);
    request.exchange.imds_vm = imds->vm;
    run(self, &request, LATENCY_IMDS);
    exchange_fini(&request.exchange);
}
