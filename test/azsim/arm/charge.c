#include "test/azsim/arm/charge.h"

#include <string.h>
#include <strings.h>
#include <time.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"

/* clang-format off */
#define THROTTLED_BY_RESOURCE_MANAGER 429, "SubscriptionRequestsThrottled", NULL, \
    "Number of requests for subscription '%s' and operation '%s' exceeded the backend storage " \
    "limit. Please try again after '%u' seconds."
#define THROTTLED_BY_COMPUTE 429, "OperationNotAllowed", NULL, \
    "The server rejected the request because too many requests have been received for this " \
    "subscription."
/* clang-format on */

enum { LONGEST_OWNER = 1000, LONGEST_HEADER = 1000 };

static uint64_t now_ms(const struct exchange *exchange)
{
    return loop_now(exchange->model->loop);
}

/* ---- Resource Manager ---- */

static enum throttle_policy caller_policy(const struct exchange *exchange)
{
    const char *method = exchange->call->method;

    if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0)
        return THROTTLE_READS;
    return strcmp(method, "DELETE") == 0 ? THROTTLE_DELETES : THROTTLE_WRITES;
}

static struct refusal *refuse_caller(const struct exchange *exchange, unsigned seconds)
{
    return refuse(THROTTLED_BY_RESOURCE_MANAGER, exchange->subscription->id,
                  exchange->kind ? exchange->kind : "unknown", seconds);
}

struct refusal *charge_caller(struct exchange *exchange)
{
    struct throttle_charge *charge = &exchange->caller_charge;
    uint64_t now = now_ms(exchange);

    if (!exchange->subscription)
        return NULL;
    throttle_take(exchange->model->throttle, caller_policy(exchange), exchange->subscription->id,
                  exchange->principal, now, charge);
    if (!charge->refused)
        return NULL;
    unsigned seconds = throttle_retry_after_s(charge, now);
    answer_header(exchange, "Retry-After", "%u", seconds);
    return refuse_caller(exchange, seconds);
}

/* ---- Compute ---- */

/* The id of the resource that a path is about: its words in pairs, without an action. An operation
 * is charged to what it is of. */
static char *owner(const struct exchange *exchange)
{
    const struct route_match *match = &exchange->match;
    struct buffer id = {.limit = LONGEST_OWNER};

    if (match->operation) {
        const struct operation *operation = operation_find(exchange->model, match->operation);

        return mem_strdup(operation ? operation->target : "");
    }
    for (size_t i = 0; i < match->n_parts / 2 * 2; i++)
        buffer_printf(&id, "/%s", match->parts[i]);
    return buffer_take(&id);
}

/* A PUT of a VM that is there is an update. */
static enum throttle_policy provider_policy(const struct exchange *exchange, const char *owner_id)
{
    CLEANUP(freep) char *key = resource_key(owner_id);

    return exchange->route->throttle == THROTTLE_PUT_VM && vm_find(exchange->model, key)
               ? THROTTLE_UPDATE_VM
               : exchange->route->throttle;
}

/* {"code", "message", "details"}: older than the envelope of all other errors, and without it. */
static json_t *compute_body(const struct exchange *exchange)
{
    const struct throttle_charge *charge = &exchange->provider_charge;
    int64_t now_us = model_now_us(exchange->model);
    int64_t since_us = now_us - (int64_t)(now_ms(exchange) - charge->since_ms) * 1000;
    int64_t end_us = since_us + (int64_t)(charge->refill_ms - charge->since_ms) * 1000;
    CLEANUP(refusal_freep) struct refusal *refusal = refuse(THROTTLED_BY_COMPUTE);
    json_t *json = refusal_json(refusal);
    json_t *details = json_pack("{s:s, s:o, s:o, s:I, s:I}", "operationGroup",
                                charge->refused ? charge->refused : "", "startTime",
                                azure_time_json(since_us), "endTime", azure_time_json(end_us),
                                "allowedRequestCount", (json_int_t)charge->allowed,
                                "measuredRequestCount", (json_int_t)charge->measured);
    CLEANUP(freep) char *text = json_dumps(details, JSON_COMPACT);

    json_decref(details);
    json_object_set_new(json, "details",
                        json_pack("[{s:s, s:s, s:s}]", "code", "TooManyRequests", "target",
                                  charge->refused ? charge->refused : "", "message", text));
    return json;
}

bool charge_provider(struct exchange *exchange)
{
    struct throttle_charge *charge = &exchange->provider_charge;

    if (exchange->route->throttle == THROTTLE_NONE)
        return true;
    CLEANUP(freep) char *owner_id = owner(exchange);
    throttle_take(exchange->model->throttle, provider_policy(exchange, owner_id),
                  exchange->subscription->id, owner_id, now_ms(exchange), charge);
    if (!charge->refused)
        return true;
    answer_header(exchange, "Retry-After", "%u", throttle_retry_after_s(charge, now_ms(exchange)));
    answer(exchange, 429, compute_body(exchange));
    return false;
}

/* ---- when asked to ---- */

static void retry_after(struct exchange *exchange, const struct fault *fault)
{
    time_t due = (time_t)(model_now_us(exchange->model) / 1000000) + fault->retry_after_s;
    char date[64];
    struct tm tm;

    if (fault->retry_after_s < 0)
        return;
    gmtime_r(&due, &tm);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    if (fault->as_date)
        answer_header(exchange, "Retry-After", "%s", date);
    else
        answer_header(exchange, "Retry-After", "%d", fault->retry_after_s);
}

static void answer_as_compute(struct exchange *exchange, const struct fault *fault)
{
    throttle_pretend(exchange->model->throttle, exchange->route->throttle, now_ms(exchange),
                     &exchange->provider_charge);
    json_t *body = compute_body(exchange);

    if (fault->wrapped) {
        json_object_set_new(body, "innererror",
                            json_pack("{s:s}", "internalErrorCode", "TooManyRequestsReceived"));
        body = json_pack("{s:o}", "error", body);
    }
    answer(exchange, 429, body);
}

static void answer_as_resource_manager(struct exchange *exchange, const struct fault *fault)
{
    unsigned seconds = fault->retry_after_s > 0 ? (unsigned)fault->retry_after_s : 1;

    throttle_pretend(exchange->model->throttle, caller_policy(exchange), now_ms(exchange),
                     &exchange->caller_charge);
    answer_gateway(exchange, refuse_caller(exchange, seconds));
}

static void answer_as_token_end_point(struct exchange *exchange)
{
    answer(exchange, 429,
           json_pack("{s:s, s:s}", "error", "temporarily_unavailable", "error_description",
                     "Too many requests. Please try again later."));
}

void charge_answer_throttled(struct exchange *exchange, const struct fault *fault)
{
    bool compute = exchange->route && exchange->route->throttle != THROTTLE_NONE &&
                   !(fault->by && strcmp(fault->by, "resourceManager") == 0);

    retry_after(exchange, fault);
    if (exchange_speaks_oauth(exchange))
        answer_as_token_end_point(exchange);
    else if (compute)
        answer_as_compute(exchange, fault);
    else
        answer_as_resource_manager(exchange, fault);
}

/* ---- every answer ---- */

void charge_headers(struct exchange *exchange)
{
    const struct throttle_charge *caller = &exchange->caller_charge;
    const struct throttle_charge *provider = &exchange->provider_charge;
    struct buffer left = {.limit = LONGEST_HEADER};

    for (size_t i = 0; i < caller->n; i++) {
        CLEANUP(freep)
        char *name = mem_printf("x-ms-ratelimit-remaining-%s", caller->limits[i].limit);

        answer_header(exchange, name, "%u", caller->limits[i].left);
    }
    for (size_t i = 0; i < provider->n; i++)
        buffer_printf(&left, "%sMicrosoft.Compute/%s;%u", i > 0 ? "," : "",
                      provider->limits[i].limit, provider->limits[i].left);
    if (provider->n > 0)
        answer_header(exchange, "x-ms-ratelimit-remaining-resource", "%s", left.data);
    buffer_fini(&left);
}
