#include "test/azsim/arm/fault_injection.h"

#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "test/azsim/arm/charge.h"
#include "test/azsim/model/fault_code.h"
#include "test/azsim/model/fault_site.h"

/* clang-format off */
#define EXPIRED 401, "ExpiredAuthenticationToken", NULL, \
    "The access token expiry UTC time '1/1/2026 0:00:00 AM' is earlier than current UTC time."
#define CLAIMS_WANTED 401, "InvalidAuthenticationToken", NULL, \
    "The access token lacks claims that a policy of the tenant demands."
/* clang-format on */

/* In the journal, of a request that nobody answered and nothing came of. */
enum { NOTHING_DONE = 444 };

static const struct {
    int status;
    const char *title;
} pages[] = {{502, "Bad Gateway"}, {503, "Service Unavailable"}, {504, "Gateway Time-out"}};

/* ---- what a request is about ---- */

/* The metadata service finds its routes by itself. */
static const char *metadata_kind(const char *path)
{
    return strstr(path, "/identity/")  ? "imds.token"
           : strstr(path, "/versions") ? "imds.versions"
                                       : "imds.instance";
}

static const struct operation *polled(const struct exchange *exchange)
{
    const char *id = exchange->match.operation;

    return id ? operation_find(exchange->model, id) : NULL;
}

/* An instance of a scale set is "pool_3". NULL: it is about none. */
static char *resource_of(const struct exchange *exchange)
{
    const struct route_match *match = &exchange->match;
    const struct operation *operation = polled(exchange);

    if (exchange->imds_vm)
        return mem_strdup(exchange->imds_vm);
    if (operation)
        return mem_strdup(fault_resource(exchange->model, operation->target));
    return match->instance ? mem_printf("%s_%s", match->name, match->instance)
                           : mem_strdup(match->name);
}

static const struct fault *strike(struct exchange *exchange, enum fault_place place)
{
    CLEANUP(freep) char *resource = resource_of(exchange);
    const struct operation *operation = polled(exchange);
    const struct fault_subject subject = {
        .kind = exchange->imds_vm ? metadata_kind(exchange->call->path) : exchange->kind,
        .resource = resource,
        .operation_status = operation ? operation_status_name(operation->status) : NULL,
        .body = exchange->call->body,
    };
    const struct fault *fault =
        faults_strike(exchange->model->faults, place, &subject, loop_now(exchange->model->loop));

    if (fault)
        exchange->fault = fault_type_name(fault->type);
    return fault;
}

/* ---- answers that are not Azure's ---- */

static void remove_at(struct http_reply *reply, size_t i)
{
    free((char *)(uintptr_t)reply->headers[i].name);
    free((char *)(uintptr_t)reply->headers[i].value);
    reply->headers[i] = reply->headers[--reply->n_headers];
}

static void remove_header(struct http_reply *reply, const char *name)
{
    for (size_t i = reply->n_headers; i-- > 0;)
        if (strcasecmp(reply->headers[i].name, name) == 0)
            remove_at(reply, i);
}

/* A page of some gateway, and nothing that the handler said. */
static void answer_page_of_gateway(struct exchange *exchange, int status)
{
    struct http_reply *reply = exchange->reply;
    size_t i = 0;

    while (reply->n_headers > 0)
        remove_at(reply, 0);
    while (i + 1 < COUNT_OF(pages) && pages[i].status != status)
        i++;
    http_reply_body(reply, pages[i].status, "text/html",
                    mem_printf("<html>\r\n<head><title>%d %s</title></head>\r\n<body>\r\n"
                               "<center><h1>%d %s</h1></center>\r\n<hr><center>"
                               "Microsoft-Azure-Application-Gateway/v2</center>\r\n</body>\r\n"
                               "</html>\r\n",
                               pages[i].status, pages[i].title, pages[i].status, pages[i].title));
}

/* ---- instead of the handling ---- */

static void answer_code(struct exchange *exchange, const struct fault *fault)
{
    CLEANUP(freep) char *resource = resource_of(exchange);
    CLEANUP(refusal_freep) struct refusal *refusal = fault_refusal(fault, resource);
    bool wrapped = !fault->wrapped_said || fault->wrapped;
    json_t *json =
        exchange_speaks_oauth(exchange)
            ? json_pack("{s:s, s:s}", "error", refusal->code, "error_description", refusal->message)
        : wrapped ? json_pack("{s:o}", "error", refusal_json(refusal))
                  : refusal_json(refusal);

    if (fault->retry_after_s >= 0)
        answer_header(exchange, "Retry-After", "%d", fault->retry_after_s);
    answer(exchange, refusal->status, json);
}

static void answer_redirect(struct exchange *exchange, const struct fault *fault)
{
    CLEANUP(freep) char *base = exchange_base(exchange);
    CLEANUP(freep) char *other = fault->host ? mem_printf("https://%s", fault->host) : NULL;

    answer_header(exchange, "Location", "%s%s?%s", other ? other : base, exchange->call->path,
                  exchange->call->query);
    answer(exchange, 307, NULL);
}

static void answer_challenge(struct exchange *exchange)
{
    CLEANUP(freep) char *base = exchange_base(exchange);
    CLEANUP(freep)
    char *claims =
        mem_printf("{\"access_token\":{\"nbf\":{\"essential\":true,\"value\":\"%lld\"}}}",
                   (long long)(model_now_us(exchange->model) / 1000000));
    CLEANUP(freep) char *encoded = base64url_encode(claims, strlen(claims));

    answer_gateway(exchange, refuse(CLAIMS_WANTED));
    answer_header(exchange, "WWW-Authenticate",
                  "Bearer realm=\"\", authorization_uri=\"%s/%s/oauth2/authorize\", "
                  "error=\"insufficient_claims\", claims=\"%s\"",
                  base, exchange->model->tenant_id, encoded);
}

bool fault_injection_before(struct exchange *exchange)
{
    const struct fault *fault = strike(exchange, FAULT_AT_REQUEST);

    if (!fault)
        return false;
    switch (fault->type) {
    case FAULT_HANG_UP:
        exchange->reply->hang_up = true;
        exchange->reply->status = NOTHING_DONE;
        break;
    case FAULT_REFUSE:
        answer_code(exchange, fault);
        break;
    case FAULT_THROTTLE:
        charge_answer_throttled(exchange, fault);
        break;
    case FAULT_GATEWAY_ERROR:
        answer_page_of_gateway(exchange, fault->status);
        break;
    case FAULT_REDIRECT:
        answer_redirect(exchange, fault);
        break;
    case FAULT_EXPIRE_TOKEN:
        answer_gateway(exchange, refuse(EXPIRED));
        break;
    case FAULT_CHALLENGE:
        answer_challenge(exchange);
        break;
    default:
        abort(); /* it strikes elsewhere */
    }
    return true;
}

/* ---- afterwards ---- */

static void truncate_body(struct http_reply *reply)
{
    if (!reply->body)
        return;
    reply->body_length /= 2;
    reply->body[reply->body_length] = '\0';
}

static void change_retry_after(struct exchange *exchange, const struct fault *fault)
{
    remove_header(exchange->reply, "Retry-After");
    if (fault->retry_after_s >= 0)
        answer_header(exchange, "Retry-After", "%d", fault->retry_after_s);
}

static void change_operation(struct http_reply *reply, const char *value)
{
    static const char *const names[] = {"Azure-AsyncOperation", "Location",
                                        "azure-asyncnotification"};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        bool there = http_header_find(reply->headers, reply->n_headers, names[i]) != NULL;

        remove_header(reply, names[i]);
        if (there && value)
            http_reply_header(reply, names[i], value);
    }
}

/* The page that would have been comes next. */
static void empty_page(struct exchange *exchange)
{
    struct http_reply *reply = exchange->reply;
    CLEANUP(freep) char *base = exchange_base(exchange);
    json_t *json = json_loadb(reply->body ? reply->body : "", reply->body_length, 0, NULL);

    if (json_is_array(json_object_get(json, "value"))) {
        json_object_set_new(json, "value", json_array());
        json_object_set_new(
            json, "nextLink",
            json_sprintf("%s%s?%s", base, exchange->call->path, exchange->call->query));
        http_reply_body(reply, reply->status, "application/json; charset=utf-8",
                        json_dumps(json, JSON_INDENT(2)));
    }
    json_decref(json);
}

static void send_otherwise(struct http_reply *reply, enum http_send_mode send_mode, uint64_t ms)
{
    reply->send_mode = send_mode;
    reply->send_ms = ms;
}

void fault_injection_after(struct exchange *exchange)
{
    const struct fault *fault = strike(exchange, FAULT_AT_ANSWER);
    struct http_reply *reply = exchange->reply;

    if (!fault)
        return;
    switch (fault->type) {
    case FAULT_LOSE_ANSWER:
        reply->hang_up = true;
        break;
    case FAULT_GATEWAY_TIMEOUT:
        answer_page_of_gateway(exchange, fault->status ? fault->status : 504);
        break;
    case FAULT_CUT_ANSWER:
        send_otherwise(reply, HTTP_SEND_CUT, 0);
        break;
    case FAULT_TRUNCATE:
        truncate_body(reply);
        break;
    case FAULT_DRIP:
        send_otherwise(reply, HTTP_SEND_SLOWLY, fault->time_ms);
        break;
    case FAULT_CHUNK:
        send_otherwise(reply, HTTP_SEND_CHUNKED, 0);
        break;
    case FAULT_CLOSE_CONNECTION:
        http_reply_header(reply, "Connection", "close");
        break;
    case FAULT_WRONG_TYPE:
        http_reply_header(reply, "Content-Type", "text/html");
        break;
    case FAULT_STALL:
        exchange->stall_ms = fault->time_ms;
        break;
    case FAULT_RETRY_AFTER:
        change_retry_after(exchange, fault);
        break;
    case FAULT_NO_OPERATION:
        change_operation(reply, NULL);
        break;
    case FAULT_GARBLE_OPERATION:
        change_operation(reply, "!no URL!");
        break;
    case FAULT_EMPTY_PAGE:
        empty_page(exchange);
        break;
    default:
        abort(); /* it strikes elsewhere */
    }
}
