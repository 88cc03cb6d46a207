#include "test/sim/kube/request.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "test/sim/kube/answer.h"
#include "test/sim/kube/api_errors.h"
#include "test/sim/kube/json_patch.h"
#include "test/sim/kube/metadata.h"
#include "test/sim/kube/page.h"
#include "test/sim/kube/watch.h"

/* A request while it is served, which is one piece on the loop's stack. */
struct call {
    struct kube_server *server;
    const struct http_request *request;
    struct target target;
    struct http_response *response;
    struct http_stream **stream; /* for a watch; NULL: an ordinary exchange */
    bool unanswered;             /* no answer comes before the deadline */
};

static void call_fini(struct call *call)
{
    target_fini(&call->target);
}

static struct err *read_body(const struct http_request *request, json_t **ret)
{
    struct err *err =
        json_parse_here(request->body ? request->body : "", request->body_length, ret);

    return err ? err_with_code(err, "BadRequest") : NULL;
}

/* ---- verbs ---- */

typedef struct err *verb_fn(struct call *call, const char *key);

static struct err *get(struct call *call, const char *key)
{
    const struct target *target = &call->target;
    struct version *version = collection_find(server_collection(call->server, target->kind), key);

    if (!version)
        return refuse_not_found(target->kind, target->name);
    answer_object(200, version, call->response);
    return NULL;
}

static struct err *list(struct call *call, const char *key)
{
    char *text;
    size_t length;

    (void)key;
    TRY(page_read(call->server, &call->target, &text, &length));
    answer_text(200, text, length, call->response);
    return NULL;
}

static struct err *watch(struct call *call, const char *key)
{
    (void)key;
    if (!call->stream)
        return refuse_request("a watch is a stream");
    TRY(watch_open(call->server, &call->target, call->stream));
    answer_text(200, mem_strdup(""), 0, call->response);
    return NULL;
}

static struct err *create(struct call *call, const char *key)
{
    CLEANUP(json_decrefp) json_t *body = NULL;
    CLEANUP(version_unrefp) struct version *made = NULL;

    (void)key;
    TRY(read_body(call->request, &body));
    TRY(server_create(call->server, call->target.kind, call->target.namespace_, body, &made));
    answer_object(201, made, call->response);
    return NULL;
}

static struct err *update(struct call *call, const char *key)
{
    const struct target *target = &call->target;
    CLEANUP(json_decrefp) json_t *body = NULL;
    CLEANUP(version_unrefp) struct version *made = NULL;

    TRY(read_body(call->request, &body));
    TRY(server_update(call->server, target->kind, key, body, false, target->subresource[0], &made));
    answer_object(200, made, call->response);
    return NULL;
}

/* What does not apply is answered as what is not valid, with 422. */
static struct err *patch_json(struct call *call, const char *key, const json_t *body)
{
    const struct target *target = &call->target;
    struct version *old = collection_find(server_collection(call->server, target->kind), key);
    CLEANUP(json_decrefp) json_t *wanted = NULL;
    CLEANUP(version_unrefp) struct version *made = NULL;

    if (!old)
        return refuse_not_found(target->kind, target->name);
    CLEANUP(err_freep) struct err *err = json_patch_apply(old->json, body, &wanted);
    if (err)
        return refuse_invalid(target->kind, target->name, err_message(err));
    TRY(server_update(call->server, target->kind, key, wanted, false, target->subresource[0],
                      &made));
    answer_object(200, made, call->response);
    return NULL;
}

static struct err *patch(struct call *call, const char *key)
{
    const struct target *target = &call->target;
    const struct http_request *request = call->request;
    const char *type = http_header_find(request->headers, request->n_headers, "Content-Type");
    bool is_json_patch = type && strcmp(type, "application/json-patch+json") == 0;
    CLEANUP(json_decrefp) json_t *body = NULL;
    CLEANUP(version_unrefp) struct version *made = NULL;

    if (!is_json_patch && (!type || strcmp(type, "application/merge-patch+json") != 0))
        return refuse_because(ERR_INVALID, "UnsupportedMediaType",
                              "the only patches here are merge patches and JSON patches");
    TRY(read_body(request, &body));
    if (is_json_patch)
        return json_is_array(body) ? patch_json(call, key, body)
                                   : refuse_request("a JSON patch is a list");
    if (!json_is_object(body))
        return refuse_request("a merge patch is an object");
    TRY(server_update(call->server, target->kind, key, body, true, target->subresource[0], &made));
    answer_object(200, made, call->response);
    return NULL;
}

static struct err *delete_object(struct call *call, const char *key)
{
    CLEANUP(json_decrefp) json_t *options = NULL;
    CLEANUP(version_unrefp) struct version *marked = NULL;

    if (call->request->body_length > 0)
        TRY(read_body(call->request, &options));
    TRY(server_delete(call->server, call->target.kind, key, options, &marked));
    if (marked)
        answer_object(200, marked, call->response);
    else
        answer_deleted(call->target.kind, call->target.name, call->response);
    return NULL;
}

static const struct {
    const char *verb;
    verb_fn *fn;
} verbs[] = {
    {"patch", patch},          {"get", get},       {"list", list},
    {"watch", watch},          {"create", create}, {"update", update},
    {"delete", delete_object},
};

/* ---- all requests ---- */

static struct err *perform(struct call *call, const char *verb)
{
    const struct target *target = &call->target;
    char key[LONGEST_KEY];

    metadata_key(target->kind, target->namespace_, target->name, key);
    for (size_t i = 0; i < COUNT_OF(verbs); i++)
        if (strcmp(verbs[i].verb, verb) == 0)
            return verbs[i].fn(call, key);
    return refuse_request("no such verb");
}

static void drop_answer(struct call *call)
{
    http_response_fini(call->response);
    *call->response = (struct http_response){0};
    if (call->stream && *call->stream) {
        http_stream_close(*call->stream);
        *call->stream = NULL;
    }
}

static bool is_denied(const struct call *call, const char *verb)
{
    const struct target *target = &call->target;

    return target->kind->resource == call->server->behaviour.denied_status &&
           strcmp(verb, "patch") == 0 && strcmp(target->subresource, "status") == 0;
}

static struct err *deny(void)
{
    return refuse_because(ERR_DENIED, "Forbidden", "no role of this account allows it");
}

static void answer(struct call *call, const char *verb)
{
    struct kube_server *server = call->server;
    const struct fault_rule *rule = fault_draw(
        &server->behaviour.fault, verb, call->target.kind->resource, loop_random(server->loop));

    if (!rule || rule->after_effect) {
        struct err *err = is_denied(call, verb) ? deny() : perform(call, verb);

        if (err)
            answer_error(err, call->response);
    }
    if (!rule)
        return;
    drop_answer(call);
    if (rule->status)
        answer_fault(rule, call->response);
    else
        call->unanswered = true;
}

static void serve(void *arg)
{
    struct call *call = arg;
    const struct http_request *request = call->request;
    const struct fault_rule away = {.status = 503,
                                    .retry_after_s = call->server->behaviour.retry_after_s};
    const char *verb;

    if (call->server->away)
        answer_fault(&away, call->response);
    else if (!target_read(request->url, &call->target))
        answer_unknown(call->target.is_builtin || call->target.kind, call->response);
    else if (!(verb = target_verb(&call->target, request->method ? request->method : "GET")))
        answer_error(
            refuse_because(ERR_UNIMPLEMENTED, "MethodNotAllowed",
                           "the server does not allow this method on the requested resource"),
            call->response);
    else
        answer(call, verb);
}

static struct err *outlast(struct task *self, struct kube_server *server, uint64_t deadline)
{
    while (!server->closing)
        TRY(wait_for_change(self, &server->end, deadline));
    return err_new(ERR_UNAVAILABLE, "the server has closed the connection");
}

static struct err *serve_call(struct task *self, struct call *call)
{
    struct kube_server *server = call->server;
    const struct http_request *request = call->request;
    struct err *err = NULL;

    if (server->closing)
        return err_new(ERR_UNAVAILABLE, "%s: connection refused", request->url);
    if (request->may_send && !request->may_send(request->may_send_ctx))
        return err_new(ERR_CANCELED, "%s: may not be sent any more", request->url);
    server_enter(server);
    loop_call(self, serve, call);
    if (call->unanswered)
        err = outlast(self, server, request->deadline);
    server_leave(server);
    return err;
}

struct err *request_exchange(struct http_transport *http, struct task *self,
                             const struct http_request *request, struct http_response *ret)
{
    struct http_response response = {0};
    CLEANUP(call_fini)
    struct call call = {
        .server = CONTAINER_OF(http, struct kube_server, http),
        .request = request,
        .response = &response,
    };
    size_t most = request->max_response ? request->max_response : HTTP_DEFAULT_MAX_RESPONSE;

    TRY(serve_call(self, &call));
    if (response.body_length > most) {
        http_response_fini(&response);
        return err_new(ERR_EXHAUSTED, "%s: the answer is larger than %zu bytes", request->url,
                       most);
    }
    *ret = response;
    return NULL;
}

struct err *request_open(struct http_transport *http, struct task *self,
                         const struct http_request *request, struct http_response *ret_response,
                         struct http_stream **ret_stream)
{
    struct http_response response = {0};
    struct http_stream *stream = NULL;
    CLEANUP(call_fini)
    struct call call = {
        .server = CONTAINER_OF(http, struct kube_server, http),
        .request = request,
        .response = &response,
        .stream = &stream,
    };

    TRY(serve_call(self, &call));
    *ret_response = response;
    *ret_stream = stream;
    return NULL;
}
