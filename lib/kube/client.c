#include "lib/kube/client.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/secret.h"
#include "lib/json/codec.h"
#include "lib/json/lenient.h"
#include "lib/json/parse.h"
#include "lib/kube/bearer_token.h"
#include "lib/kube/url.h"
#include "lib/rt/loop.h"
#include "lib/rt/wait.h"

enum {
    LONGEST_QUOTE = 200,         /* of an answer that makes no sense */
    LONGEST_RETRY_AFTER_S = 600, /* the server itself asks for half a minute at most */
    MOST_REPEATS = 10, /* of a request to a server that has too much to do; client-go's figure */
    OWN_HEADERS = 3,
};

struct kube {
    struct loop *loop;
    struct http_transport *transport;
    uint64_t timeout_ms; /* of a call */
    bool urgent;
    char *server;
    struct bearer_token *token;
    struct impersonation impersonation; /* borrowed */
};

/* `token` is taken. */
static struct kube *make_kube(struct loop *loop, struct http_transport *transport,
                              uint64_t timeout_ms, const char *server, struct bearer_token *token,
                              struct impersonation impersonation)
{
    struct kube *kube = mem_alloc(sizeof *kube);

    *kube = (struct kube){
        .loop = loop,
        .transport = transport,
        .timeout_ms = timeout_ms,
        .server = mem_strdup(server),
        .token = token,
        .impersonation = impersonation,
    };
    return kube;
}

struct kube *kube_new(struct loop *loop, struct http_transport *transport,
                      const struct kube_config *config)
{
    return make_kube(loop, transport, KUBE_CALL_TIMEOUT_MS, config->server,
                     bearer_token_new(loop, config), config->impersonation);
}

struct kube *kube_urgent(const struct kube *kube, uint64_t timeout_ms)
{
    struct kube *urgent = make_kube(kube->loop, kube->transport, timeout_ms, kube->server,
                                    bearer_token_ref(kube->token), kube->impersonation);

    urgent->urgent = true;
    return urgent;
}

void kube_free(struct kube *kube)
{
    if (!kube)
        return;
    free(kube->server);
    bearer_token_unref(kube->token);
    free(kube);
}

/* ---- errors ---- */

static const struct {
    const char *reason;
    enum err_kind kind;
} reasons[] = {
    {"NotFound", ERR_NOT_FOUND},   {"AlreadyExists", ERR_EXISTS}, {"Conflict", ERR_CONFLICT},
    {"Expired", ERR_OUT_OF_RANGE}, {"Gone", ERR_OUT_OF_RANGE},
};

/* 404 without the reason says that there is no such kind of object, perhaps not yet; nothing is
 * known about the object then. */
static const struct {
    int status;
    enum err_kind kind;
} statuses[] = {
    {400, ERR_INVALID},       {401, ERR_DENIED},   {403, ERR_DENIED},
    {405, ERR_UNIMPLEMENTED}, {409, ERR_CONFLICT}, {410, ERR_OUT_OF_RANGE},
    {413, ERR_INVALID},       {415, ERR_INVALID},  {422, ERR_INVALID},
};

static enum err_kind kind_of(int http_status, const char *reason)
{
    for (size_t i = 0; i < COUNT_OF(reasons); i++)
        if (reason && strcmp(reasons[i].reason, reason) == 0)
            return reasons[i].kind;
    for (size_t i = 0; i < COUNT_OF(statuses); i++)
        if (statuses[i].status == http_status)
            return statuses[i].kind;
    return ERR_UNAVAILABLE;
}

static struct err *make_err(int http_status, const char *reason, const char *message,
                            int64_t retry_after_s)
{
    int64_t after_s = retry_after_s < LONGEST_RETRY_AFTER_S ? retry_after_s : LONGEST_RETRY_AFTER_S;
    uint64_t after_ms = after_s > 0 ? (uint64_t)after_s * 1000 : 1000;
    struct err *err = http_status == 429 ? err_throttled(after_ms, "%s (HTTP 429)", message)
                                         : err_new(kind_of(http_status, reason), "%s (HTTP %d)",
                                                   message, http_status);

    if (!reason && http_status == 404)
        return err_with_code(err, KUBE_NO_SUCH_KIND);
    if (err_kind(err) == ERR_NOT_FOUND)
        return err_with_code(err, KUBE_NO_SUCH_OBJECT);
    if (!reason && http_status == 500)
        return err_with_code(err, KUBE_INTERNAL_ERROR);
    return reason ? err_with_code(err, reason) : err;
}

static bool has_code(const struct err *err, const char *code)
{
    return err_code(err) && strcmp(err_code(err), code) == 0;
}

bool kube_is_no_such_kind(const struct err *err)
{
    return has_code(err, KUBE_NO_SUCH_KIND);
}

bool kube_is_no_such_object(const struct err *err)
{
    return has_code(err, KUBE_NO_SUCH_OBJECT);
}

bool kube_is_internal_error(const struct err *err)
{
    return has_code(err, KUBE_INTERNAL_ERROR);
}

struct err *kube_status_err(int http_status, const json_t *json)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const ProtobufCMessage *decoded;
    CLEANUP(err_freep)
    struct err *unreadable = json_decode(&api__status__descriptor, json, arena, &decoded);

    if (unreadable)
        return make_err(http_status, NULL, err_message(unreadable), 0);

    const Api__Status *status = (const Api__Status *)decoded;
    return make_err(http_status, status->reason, status->message ? status->message : "no message",
                    status->details ? status->details->retry_after_seconds : 0);
}

/* An answer that is not of the API server's own making: from its front door, or a proxy. */
static struct err *foreign_err(const struct http_response *response)
{
    const char *after = http_header_find(response->headers, response->n_headers, "Retry-After");
    CLEANUP(freep)
    char *text = mem_printf("\"%.*s\"", LONGEST_QUOTE, response->body);

    return make_err(response->status, NULL, text, after ? strtol(after, NULL, 10) : 0);
}

/* ---- requests ---- */

struct call {
    const char *method;
    char *url;
    const char *accept; /* NULL: JSON */
    const char *content_type;
    char *body;
    size_t max_response;
};

static void call_fini(struct call *call)
{
    free(call->url);
    secret_free(call->body);
}

/* One attempt; `stream` NULL for an ordinary exchange. */
static struct err *attempt(struct task *self, struct kube *kube, const struct call *call,
                           uint64_t deadline, struct http_response *response,
                           struct http_stream **stream)
{
    const struct impersonation *impersonation = &kube->impersonation;
    CLEANUP(freep)
    struct http_header *headers = mem_alloc((OWN_HEADERS + impersonation->n) * sizeof *headers);
    size_t n = 0;

    const char *token = bearer_token_text(kube->token);
    CLEANUP(secret_freep) char *bearer = token ? mem_printf("Bearer %s", token) : NULL;
    headers[n++] = (struct http_header){"Accept", call->accept ? call->accept : "application/json"};
    if (bearer)
        headers[n++] = (struct http_header){"Authorization", bearer};
    if (call->content_type)
        headers[n++] = (struct http_header){"Content-Type", call->content_type};
    for (size_t i = 0; i < impersonation->n; i++)
        headers[n++] = impersonation->headers[i];

    struct http_request request = {
        .method = call->method,
        .url = call->url,
        .headers = headers,
        .n_headers = n,
        .body = call->body,
        .body_length = call->body ? strlen(call->body) : 0,
        .urgent = kube->urgent,
        .deadline = deadline,
        .max_response = call->max_response,
    };
    return stream ? kube->transport->open(kube->transport, self, &request, response, stream)
                  : http_exchange(self, kube->transport, &request, response);
}

static struct err *perform(struct task *self, struct kube *kube, const struct call *call,
                           uint64_t deadline, struct http_response *response,
                           struct http_stream **stream)
{
    unsigned serial = bearer_token_serial(kube->token);

    TRY(attempt(self, kube, call, deadline, response, stream));
    if (response->status != 401 || !bearer_token_refused(kube->token, serial))
        return NULL;
    http_response_fini(response);
    TRY(bearer_token_freshen(self, kube->token));
    return attempt(self, kube, call, deadline, response, stream);
}

/* The answer's document, or the error that it says. */
static struct err *interpret(struct task *self, const struct http_response *response,
                             json_t **ret_json)
{
    CLEANUP(json_decrefp) json_t *json = NULL;
    struct err *err = json_parse_leniently(self, response->body, response->body_length, &json);

    if (response->status < 200 || response->status > 299) {
        err_free(err);
        return json_is_object(json) ? kube_status_err(response->status, json)
                                    : foreign_err(response);
    }
    if (err) /* cut off on the way; it comes whole when it is asked for again */
        return err_as(err, ERR_UNAVAILABLE);
    *ret_json = TAKE_PTR(json);
    return NULL;
}

/* The error with what was asked for, if there is one. */
static struct err *failed(const struct kube *kube, const struct call *call, struct err *err)
{
    return err ? err_wrap(err, "%s %s", call->method, call->url + strlen(kube->server)) : NULL;
}

static struct err *exchange_once(struct task *self, struct kube *kube, const struct call *call,
                                 uint64_t deadline, json_t **ret_json)
{
    CLEANUP(http_response_finip) struct http_response response = {0};

    TRY(perform(self, kube, call, deadline, &response, NULL));
    return failed(kube, call, interpret(self, &response, ret_json));
}

/* What was refused because the server has too much to do was not begun: it is asked for again when
 * the server says, if there is time for that. */
static struct err *exchange(struct task *self, struct kube *kube, const struct call *call,
                            json_t **ret_json)
{
    TRY(bearer_token_freshen(self, kube->token)); /* whose time is not the call's */
    uint64_t deadline = loop_deadline(kube->loop, kube->timeout_ms);

    for (int repeats = 0;; repeats++) {
        struct err *err = exchange_once(self, kube, call, deadline, ret_json);
        uint64_t pause = err ? err_retry_after_ms(err) : 0;

        if (!pause || repeats == MOST_REPEATS || loop_now(kube->loop) + pause >= deadline)
            return err;
        err_free(err);
        TRY(task_sleep(self, pause));
    }
}

static struct err *exchange_object(struct task *self, struct kube *kube, const struct call *call,
                                   const struct api_resource *resource, struct kube_object **ret)
{
    CLEANUP(json_decrefp) json_t *json = NULL;

    TRY(exchange(self, kube, call, &json));
    struct err *err = ret ? kube_object_decode(resource->type, json, ret) : NULL;
    return err ? failed(kube, call, err_as(err, ERR_UNAVAILABLE)) : NULL;
}

struct err *kube_get(struct task *self, struct kube *kube, const struct api_resource *resource,
                     const char *namespace_, const char *name, struct kube_object **ret)
{
    CLEANUP(call_fini)
    struct call call = {.method = "GET"};

    TRY(kube_object_url(kube->server, resource, namespace_, name, NULL, &call.url));
    return exchange_object(self, kube, &call, resource, ret);
}

struct err *kube_create(struct task *self, struct kube *kube, const struct api_resource *resource,
                        const char *namespace_, const json_t *object, struct kube_object **ret)
{
    CLEANUP(freep)
    char *api_version = resource->group[0] ? mem_printf("%s/%s", resource->group, resource->version)
                                           : mem_strdup(resource->version);
    CLEANUP(json_decrefp)
    json_t *whole = json_pack("{s:s, s:s}", "apiVersion", api_version, "kind", resource->kind);
    CLEANUP(call_fini)
    struct call call = {.method = "POST", .content_type = "application/json"};

    TRY(kube_object_url(kube->server, resource, namespace_, NULL, NULL, &call.url));
    json_object_update(whole, (json_t *)(uintptr_t)object);
    call.body = json_to_text(whole);
    return exchange_object(self, kube, &call, resource, ret);
}

struct err *kube_patch(struct task *self, struct kube *kube, const struct api_resource *resource,
                       const char *namespace_, const char *name, const char *subresource,
                       const json_t *patch, struct kube_object **ret)
{
    CLEANUP(call_fini)
    struct call call = {.method = "PATCH",
                        .content_type = "application/merge-patch+json",
                        .body = json_to_text(patch)};

    TRY(kube_object_url(kube->server, resource, namespace_, name, subresource, &call.url));
    return exchange_object(self, kube, &call, resource, ret);
}

struct err *kube_json_patch(struct task *self, struct kube *kube,
                            const struct api_resource *resource, const char *namespace_,
                            const char *name, const json_t *patch)
{
    CLEANUP(json_decrefp) json_t *answer = NULL;
    CLEANUP(call_fini)
    struct call call = {.method = "PATCH",
                        .content_type = "application/json-patch+json",
                        .body = json_to_text(patch)};

    TRY(kube_object_url(kube->server, resource, namespace_, name, NULL, &call.url));
    return exchange(self, kube, &call, &answer);
}

/* `options` are taken. */
static struct err *delete_with(struct task *self, struct kube *kube,
                               const struct api_resource *resource, const char *namespace_,
                               const char *name, json_t *options)
{
    CLEANUP(json_decrefp) json_t *answer = NULL;
    CLEANUP(call_fini)
    struct call call = {
        .method = "DELETE", .content_type = "application/json", .body = json_to_text(options)};

    json_decref(options);
    TRY(kube_object_url(kube->server, resource, namespace_, name, NULL, &call.url));
    return exchange(self, kube, &call, &answer);
}

/* `uid` and `version` may be NULL: whatever they are. */
static json_t *only_if(const char *uid, const char *version)
{
    return uid ? json_pack("{s:{s:s, s:s*}}", "preconditions", "uid", uid, "resourceVersion",
                           version)
               : json_object();
}

struct err *kube_delete(struct task *self, struct kube *kube, const struct api_resource *resource,
                        const char *namespace_, const char *name, const char *uid)
{
    return delete_with(self, kube, resource, namespace_, name, only_if(uid, NULL));
}

struct err *kube_delete_pod_now(struct task *self, struct kube *kube, const char *namespace_,
                                const char *name, const char *uid)
{
    json_t *options = only_if(uid, NULL);

    json_object_set_new(options, "gracePeriodSeconds", json_integer(0));
    return delete_with(self, kube, &PODS, namespace_, name, options);
}

struct err *kube_evict(struct task *self, struct kube *kube, const char *namespace_,
                       const char *name, const char *uid)
{
    CLEANUP(json_decrefp) json_t *answer = NULL;
    CLEANUP(json_decrefp)
    json_t *eviction = json_pack("{s:s, s:s, s:{s:s, s:s}, s:o}", "apiVersion", "policy/v1", "kind",
                                 "Eviction", "metadata", "name", name, "namespace", namespace_,
                                 "deleteOptions", only_if(uid, NULL));
    CLEANUP(call_fini)
    struct call call = {
        .method = "POST", .content_type = "application/json", .body = json_to_text(eviction)};

    TRY(kube_object_url(kube->server, &PODS, namespace_, name, "eviction", &call.url));
    TRY(bearer_token_freshen(self, kube->token));
    return exchange_once(self, kube, &call, loop_deadline(kube->loop, kube->timeout_ms), &answer);
}

struct err *kube_delete_unchanged(struct task *self, struct kube *kube,
                                  const struct api_resource *resource,
                                  const struct kube_object *object)
{
    const Api__ObjectMeta *metadata = object->metadata;

    return err_unless(delete_with(self, kube, resource, metadata->namespace_, metadata->name,
                                  only_if(metadata->uid, metadata->resource_version)),
                      ERR_NOT_FOUND);
}

/* Where the server cannot leave out the rest, it sends all. */
#define METADATA_OF(kind) "application/json;as=" kind ";g=meta.k8s.io;v=v1,application/json"

struct err *kube_list_page(struct task *self, struct kube *kube,
                           const struct api_resource *resource, const char *namespace_,
                           const struct kube_query *query, json_t **ret_list)
{
    CLEANUP(call_fini)
    struct call call = {.method = "GET", .max_response = KUBE_LARGEST_LIST};

    TRY(kube_query_url(kube->server, resource, namespace_, query, false, &call.url));
    if (query->metadata_only)
        call.accept = METADATA_OF("PartialObjectMetadataList");
    return exchange(self, kube, &call, ret_list);
}

struct err *kube_watch(struct task *self, struct kube *kube, const struct api_resource *resource,
                       const char *namespace_, const struct kube_query *query,
                       struct http_stream **ret_stream)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(json_decrefp) json_t *unused = NULL;
    CLEANUP(call_fini)
    struct call call = {.method = "GET"};

    TRY(kube_query_url(kube->server, resource, namespace_, query, true, &call.url));
    if (query->metadata_only)
        call.accept = METADATA_OF("PartialObjectMetadata");
    TRY(bearer_token_freshen(self, kube->token));
    TRY(perform(self, kube, &call, loop_deadline(kube->loop, kube->timeout_ms), &response,
                ret_stream));
    if (response.status == 200)
        return NULL;
    struct err *err = interpret(self, &response, &unused);
    return err_wrap(err ? err : err_new(ERR_UNAVAILABLE, "HTTP %d", response.status), "watch %s",
                    call.url + strlen(kube->server));
}
