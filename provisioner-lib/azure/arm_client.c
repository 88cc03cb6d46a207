#include "provisioner-lib/azure/arm_client.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/api/compute.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/secret.h"
#include "lib/http/origin.h"
#include "lib/json/codec.h"
#include "lib/json/parse.h"
#include "provisioner-lib/azure/api_version.h"
#include "provisioner-lib/azure/arm_error.h"
#include "provisioner-lib/azure/azure_metrics.h"
#include "provisioner-lib/azure/cloud_endpoints.h"
#include "provisioner-lib/azure/rate_limit_headers.h"
#include "provisioner-lib/azure/subscription_buckets.h"

enum {
    MOST_CONNECTIONS = 16,
    REQUEST_TIMEOUT_MS = 60 * 1000,
    LARGEST_ANSWER = 64 * 1024 * 1024, /* a region's list of SKUs has several MiB */
};

struct arm_client {
    struct loop *loop;
    struct azure_config *config;
    struct http_transport *transport;
    struct credential *credential;
    struct subscription_buckets *subscription_buckets;
    struct rate_limiter *limiter;
    struct operation_times times[ARM_KINDS]; /* of operations that such requests have begun */
    bool discovering;
    struct waiters discovered;
};

struct arm_client *arm_client_new(struct loop *loop, struct azure_config *config,
                                  struct http_transport *transport, struct credential *credential)
{
    struct arm_client *arm = mem_alloc(sizeof *arm);

    *arm = (struct arm_client){.loop = loop,
                               .config = config,
                               .transport = transport,
                               .credential = credential,
                               .subscription_buckets = subscription_buckets_new(),
                               .limiter = rate_limiter_new(loop, MOST_CONNECTIONS)};
    waiters_init(&arm->discovered);
    return arm;
}

void arm_client_free(struct arm_client *arm)
{
    if (!arm)
        return;
    rate_limiter_free(arm->limiter);
    subscription_buckets_free(arm->subscription_buckets);
    free(arm);
}

const struct azure_config *arm_client_config(const struct arm_client *arm)
{
    return arm->config;
}

struct loop *arm_client_loop(const struct arm_client *arm)
{
    return arm->loop;
}

/* ---- one exchange ---- */

static struct token_buckets *buckets_of(const struct arm_client *arm, const char *url)
{
    return subscription_buckets_find(arm->subscription_buckets, url);
}

uint64_t arm_client_pace(const struct arm_client *arm, const struct arm_request *request)
{
    return token_buckets_pace(buckets_of(arm, request->path), request->kind, request->resource,
                              loop_now(arm->loop));
}

static struct rate_limiter_request
limiter_request(const struct arm_client *arm, const struct arm_request *request, const char *url)
{
    return (struct rate_limiter_request){.buckets = buckets_of(arm, url),
                                         .kind = request->kind,
                                         .resource = request->resource,
                                         .urgency = &request->urgency};
}

static struct err *wait_turn(struct task *self, struct arm_client *arm,
                             const struct arm_request *request, const char *url)
{
    const struct rate_limiter_request passing = limiter_request(arm, request, url);
    uint64_t began = loop_now(arm->loop);

    TRY(rate_limiter_acquire(self, arm->limiter, &passing));
    metric_observe(&METRIC_AZURE_GATE_SECONDS, (double)(loop_now(arm->loop) - began) / 1000,
                   arm_kind_name(request->kind));
    return NULL;
}

/* A request that has had its turn and is being connected. */
struct parting {
    struct arm_client *arm;
    const struct arm_request *request;
    const char *url;
    bool refused; /* Azure has refused its like meanwhile */
};

static bool may_send(void *ctx)
{
    struct parting *parting = ctx;
    const struct arm_request *request = parting->request;

    parting->refused =
        token_buckets_is_closed(buckets_of(parting->arm, parting->url), request->kind,
                                request->resource, loop_now(parting->arm->loop));
    return !parting->refused;
}

/* When its turn has come; once more if a refusal came before it could go. */
static struct err *send(struct task *self, struct parting *parting, struct http_request *message,
                        struct http_response *ret)
{
    struct arm_client *arm = parting->arm;
    struct err *err = NULL;

    message->may_send = may_send;
    message->may_send_ctx = parting;
    do {
        err_free(err);
        parting->refused = false;
        TRY(wait_turn(self, arm, parting->request, parting->url));
        uint64_t began = loop_now(arm->loop);
        message->deadline = began + REQUEST_TIMEOUT_MS;
        err = http_exchange(self, arm->transport, message, ret);
        rate_limiter_release(arm->limiter);
        if (!err)
            metric_observe(&METRIC_AZURE_REQUEST_SECONDS,
                           (double)(loop_now(arm->loop) - began) / 1000,
                           arm_kind_name(parting->request->kind));
    } while (err && parting->refused);
    return err;
}

static struct err *attempt(struct task *self, struct arm_client *arm,
                           const struct arm_request *request, const char *url, const char *body,
                           struct http_response *ret)
{
    CLEANUP(secret_freep) char *authorization = NULL;
    struct parting parting = {.arm = arm, .request = request, .url = url};
    struct http_header headers[4];
    size_t n = 0;

    /* In this order: what has had its turn goes at once, or it would pass a refusal unseen. */
    TRY(credential_get(self, arm->credential, &authorization));
    headers[n++] = (struct http_header){"Authorization", authorization};
    headers[n++] = (struct http_header){"Accept", "application/json"};
    if (body)
        headers[n++] = (struct http_header){"Content-Type", "application/json"};
    if (request->if_match)
        headers[n++] = (struct http_header){"If-Match", request->if_match};

    TRY(send(self, &parting,
             &(struct http_request){
                 .method = request->method,
                 .url = url,
                 .headers = headers,
                 .n_headers = n,
                 .body = body,
                 .body_length = body ? strlen(body) : 0,
                 .urgent = true, /* it has waited for a connection at the rate limiter */
                 .max_response = LARGEST_ANSWER,
             },
             ret));
    rate_limit_headers_note(buckets_of(arm, url), request, ret, loop_now(arm->loop));
    if (ret->status == 401)
        credential_refused(arm->credential, authorization, ret);
    return NULL;
}

/* An empty body is no document, and an error page of a gateway is none either; nor is what was cut
 * off on the way, which comes whole when it is asked for again. */
static struct err *document_of(struct task *self, struct arm_client *arm,
                               const struct http_response *response, json_t **ret_json)
{
    struct err *err = NULL;

    *ret_json = NULL;
    if (response->body_length > 0)
        err = json_parse(self, response->body, response->body_length, ret_json);
    if (response->status >= 300) { /* a redirect, which is not followed, has done nothing */
        err_free(err);
        return arm_error(response, *ret_json, loop_wall_us(arm->loop));
    }
    return err ? err_as(err, ERR_UNAVAILABLE) : NULL;
}

static struct err *exchange(struct task *self, struct arm_client *arm,
                            const struct arm_request *request, const char *url, const char *body,
                            struct http_response *response, json_t **ret_json)
{
    CLEANUP(json_decrefp) json_t *json = NULL;

    TRY(attempt(self, arm, request, url, body, response));
    if (response->status == 401) {
        http_response_fini(response);
        metric_add(&METRIC_AZURE_RETRIES, 1, arm_kind_name(request->kind), "token");
        TRY(attempt(self, arm, request, url, body, response));
    }
    struct err *err = document_of(self, arm, response, &json);
    if (err && err_kind(err) == ERR_THROTTLED)
        rate_limit_headers_close(buckets_of(arm, url), request, response, err, json,
                                 loop_now(arm->loop));
    TRY(err);
    *ret_json = TAKE_PTR(json);
    return NULL;
}

static struct err *perform(struct task *self, struct arm_client *arm,
                           const struct arm_request *request, const char *url, const char *body,
                           struct http_response *response, json_t **ret_json)
{
    struct err *err = exchange(self, arm, request, url, body, response, ret_json);

    metric_add(&METRIC_AZURE_REQUESTS, 1, arm_kind_name(request->kind),
               err ? err_kind_reason(err_kind(err)) : "ok");
    return err;
}

/* ---- a cloud that is known by its Resource Manager only ---- */

static struct err *ask_end_points(struct task *self, struct arm_client *arm)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(json_decrefp) json_t *json = NULL;
    CLEANUP(freep) char *url = mem_printf("%s" CLOUD_ENDPOINTS_PATH, arm->config->resource_manager);

    TRY(http_exchange(
        self, arm->transport,
        &(struct http_request){.url = url, .deadline = loop_now(arm->loop) + REQUEST_TIMEOUT_MS},
        &response));
    TRY(document_of(self, arm, &response, &json));
    struct err *err = cloud_endpoints_take(arm->config, json);
    return err ? err_wrap(err_as(err, ERR_UNAVAILABLE), "GET %s", url) : NULL;
}

/* One asks for all who come meanwhile; if that fails, the next of them does. */
static struct err *discover(struct task *self, struct arm_client *arm)
{
    while (arm->config->discover && arm->discovering)
        TRY(wait_for_change(self, &arm->discovered, TIMER_NEVER));
    if (!arm->config->discover)
        return NULL;
    arm->discovering = true;
    struct err *err = ask_end_points(self, arm);
    arm->discovering = false;
    waiters_wake(&arm->discovered);
    return err;
}

/* ---- requests ---- */

static bool is_about_disk(enum arm_kind kind)
{
    return kind == ARM_DISK_WRITE || kind == ARM_DISK_DELETE;
}

static void take_operation(const struct arm_client *arm, const struct arm_request *request,
                           const struct http_response *response, struct arm_operation *ret)
{
    static const char *const headers[] = {"Azure-AsyncOperation", "Operation-Location", "Location"};
    const char *url = NULL;
    size_t i;

    for (i = 0; !url && i < COUNT_OF(headers); i++)
        url = http_header_find(response->headers, response->n_headers, headers[i]);
    *ret = (struct arm_operation){
        .url = mem_strdup(url),
        .by_status = i == COUNT_OF(headers),
        .begun_by = request->kind,
        .kind = is_about_disk(request->kind) ? ARM_DISK_OPERATION_READ : ARM_OPERATION_READ,
        .resource = mem_strdup(request->resource),
        .urgency = request->urgency,
        .retry_after_ms = arm_retry_after_ms(response, loop_wall_us(arm->loop)),
        .most_ms = request->operation_most_ms,
        .ctx = request->ctx,
    };
}

static char *url_of(const struct arm_client *arm, const struct arm_request *request)
{
    const char *home = arm->config->resource_manager, *path = request->path;

    if (strstr(path, "api-version="))
        return mem_printf("%s%s", home, path);
    return mem_printf("%s%s%sapi-version=%s", home, path, strchr(path, '?') ? "&" : "?",
                      api_version(request->kind, arm->config->azure_stack));
}

static struct err *wrap(struct err *err, const struct arm_request *request)
{
    return err_wrap(err, "%s %.*s", request->method ? request->method : "GET",
                    (int)strcspn(request->path, "?"), request->path);
}

struct err *arm_client_wait(struct task *self, struct arm_client *arm,
                            const struct arm_request *request)
{
    const struct rate_limiter_request passing = limiter_request(arm, request, request->path);

    return rate_limiter_wait(self, arm->limiter, &passing);
}

void arm_client_hurry(struct arm_client *arm, struct arm_request *request,
                      enum cloud_urgency urgency)
{
    if (request->urgency <= urgency)
        return;
    request->urgency = urgency;
    rate_limiter_reorder(arm->limiter, &request->urgency);
}

struct err *arm_client_request(struct task *self, struct arm_client *arm,
                               const struct arm_request *request, json_t **ret_json,
                               struct arm_operation *ret_operation)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(json_decrefp) json_t *json = NULL;
    CLEANUP(freep) char *text = request->body ? json_to_text(request->body) : NULL;
    CLEANUP(freep) char *url = url_of(arm, request);

    TRY(discover(self, arm));
    struct upstream_request upstream = upstream_request_of(request, loop_now(arm->loop));
    struct err *err = perform(self, arm, request, url, text, &response, &json);
    if (!err && ret_operation)
        take_operation(arm, request, &response, ret_operation);
    if (!err && ret_operation && ret_operation->url) {
        ret_operation->upstream = upstream;
    } else {
        upstream_request_count(&upstream, err, loop_now(arm->loop));
        upstream_request_fini(&upstream);
    }
    if (err)
        return wrap(err, request);
    if (ret_json)
        *ret_json = TAKE_PTR(json);
    return NULL;
}

struct err *arm_client_get(struct task *self, struct arm_client *arm,
                           const struct arm_request *request,
                           const ProtobufCMessageDescriptor *type, struct arena *arena,
                           const ProtobufCMessage **ret)
{
    CLEANUP(json_decrefp) json_t *json = NULL;

    TRY(arm_client_request(self, arm, request, &json, NULL));
    if (!json) /* a proxy's answer, perhaps; nothing is known of the object */
        return wrap(err_new(ERR_UNAVAILABLE, "the answer reports success but has no body"),
                    request);
    struct err *err = json_decode(type, json, arena, ret);
    return err ? wrap(err_as(err, ERR_UNAVAILABLE), request) : NULL;
}

/* ---- operations ---- */

struct err *arm_client_look(struct task *self, struct arm_client *arm,
                            const struct arm_request *request, struct http_response *response,
                            json_t **ret_json)
{
    return perform(self, arm, request, request->path, NULL, response, ret_json);
}

struct operation_times *arm_client_times(struct arm_client *arm, enum arm_kind kind)
{
    return &arm->times[kind];
}

struct err *arm_client_change(struct task *self, struct arm_client *arm,
                              const struct arm_request *request)
{
    CLEANUP(arm_operation_fini) struct arm_operation operation = {0};

    TRY(arm_client_request(self, arm, request, NULL, &operation));
    if (request->accepted)
        request->accepted(request->ctx);
    return arm_operation_wait(self, arm, &operation);
}

/* ---- lists ---- */

struct err *arm_client_next_page(const struct arm_client *arm, const char *link, char **ret_path)
{
    const char *home = arm->config->resource_manager;

    *ret_path = NULL;
    if (!link || !*link)
        return NULL;
    const char *path = strcasestr(link, "/subscriptions/");
    if (!http_same_origin(link, home) || !path)
        return err_new(ERR_INTERNAL, "the next page of a list is outside %s: %s", home, link);
    *ret_path = mem_strdup(path);
    return NULL;
}

/* ---- metrics ---- */

void arm_client_refresh_metrics(struct arm_client *arm)
{
    static const char *const scopes[] = {[BUCKET_RESOURCE] = "resource",
                                         [BUCKET_SUBSCRIPTION] = "subscription",
                                         [BUCKET_METHOD] = "method"};
    uint64_t now = loop_now(arm->loop);

    for (int kind = 0; kind < ARM_KINDS; kind++)
        for (size_t scope = 0; scope < COUNT_OF(scopes); scope++) {
            unsigned left = subscription_buckets_left(
                arm->subscription_buckets, (enum arm_kind)kind, (enum bucket_scope)scope, now);

            metric_set(&METRIC_AZURE_BUDGET_LEFT, left, arm_kind_name((enum arm_kind)kind),
                       scopes[scope]);
        }
}
