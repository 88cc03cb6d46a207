#include "test/azsim/arm/transport.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/rt/group.h"
#include "test/azsim/arm/form.h"

struct arm_transport {
    struct http_transport http;
    struct arm *arm;
    char *vm;
    struct task_group requests;
};

/* A request under way. It has two holders, the client and the task that serves it, and goes with
 * the second. */
struct flight {
    unsigned holders;
    struct arm_transport *transport;
    char *method, *path, *body;
    bool to_imds;
    struct form query;
    struct http_header headers[HTTP_MAX_HEADERS]; /* name and value are owned */
    struct http_call call;
    struct http_reply reply;
    bool answered;
    struct waiters waiters;
};

/* ---- a request ---- */

static void free_headers(struct http_header *headers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free((char *)(uintptr_t)headers[i].name);
        free((char *)(uintptr_t)headers[i].value);
    }
}

static void flight_let_go(struct flight *flight)
{
    if (--flight->holders > 0)
        return;
    free_headers(flight->headers, flight->call.n_headers);
    free_headers(flight->reply.headers, flight->reply.n_headers);
    free(flight->reply.body);
    form_fini(&flight->query);
    free((char *)(uintptr_t)flight->call.query);
    free(flight->method);
    free(flight->path);
    free(flight->body);
    free(flight);
}

static void add_header(struct flight *flight, const char *name, const char *value)
{
    if (flight->call.n_headers < HTTP_MAX_HEADERS)
        flight->headers[flight->call.n_headers++] =
            (struct http_header){mem_strdup(name), mem_strdup(value)};
}

/* "https://host:port/path?query" into what a server sees of it. */
static void read_url(struct flight *flight, const char *url)
{
    const char *host = strstr(url, "://") ? strstr(url, "://") + 3 : url;
    size_t host_length = strcspn(host, "/?");
    const char *path = host + host_length;
    size_t path_length = strcspn(path, "?");
    const char *query = path[path_length] == '?' ? path + path_length + 1 : "";
    CLEANUP(freep) char *name = mem_strndup(host, host_length);

    flight->to_imds = strcmp(name, "169.254.169.254") == 0;
    add_header(flight, "Host", name);
    flight->path = mem_strndup(path, path_length);
    percent_decode(flight->path);
    form_read(&flight->query, query);
    flight->call.query = mem_strdup(query);
}

static struct flight *flight_new(struct arm_transport *transport,
                                 const struct http_request *request)
{
    struct flight *flight = mem_alloc(sizeof *flight);

    flight->transport = transport;
    flight->method = mem_strdup(request->method ? request->method : "GET");
    flight->body =
        request->body ? mem_strndup(request->body, request->body_length) : mem_strdup("");
    read_url(flight, request->url);
    for (size_t i = 0; i < request->n_headers; i++)
        add_header(flight, request->headers[i].name, request->headers[i].value);
    flight->call.method = flight->method;
    flight->call.path = flight->path;
    flight->call.arguments = flight->query.fields;
    flight->call.n_arguments = flight->query.n;
    flight->call.headers = flight->headers;
    flight->call.body = flight->body;
    flight->call.body_length = request->body_length;
    flight->reply.status = 200;
    waiters_init(&flight->waiters);
    return flight;
}

static void serve(struct task *self, void *arg)
{
    struct flight *flight = arg;
    struct arm_transport *transport = flight->transport;
    struct arm_imds imds = {transport->arm, transport->vm};

    if (flight->to_imds)
        arm_imds_handle(self, &imds, &flight->call, &flight->reply);
    else
        arm_handle(self, transport->arm, &flight->call, &flight->reply);
    if (flight->reply.send_mode == HTTP_SEND_SLOWLY)
        err_free(task_sleep(self, flight->reply.send_ms));
    flight->answered = true;
    waiters_wake(&flight->waiters);
    flight_let_go(flight);
}

/* ---- the client's side ---- */

/* The reply, now as a response; what it owned goes over. */
static struct err *take_response(struct flight *flight, const struct http_request *request,
                                 struct http_response *ret)
{
    size_t limit = request->max_response ? request->max_response : HTTP_DEFAULT_MAX_RESPONSE;
    struct http_reply *reply = &flight->reply;

    if (reply->hang_up || reply->send_mode == HTTP_SEND_CUT)
        return err_new(ERR_UNAVAILABLE, "%s: the connection was closed", request->url);
    if (reply->body && reply->body_length > limit)
        return err_new(ERR_EXHAUSTED, "%s: the answer is larger than %zu bytes", request->url,
                       limit);
    *ret = (struct http_response){
        .status = reply->status,
        .headers = mem_copy(reply->headers, reply->n_headers * sizeof *reply->headers),
        .n_headers = reply->n_headers,
        .body = reply->body ? reply->body : mem_strdup(""),
        .body_length = reply->body ? reply->body_length : 0,
    };
    reply->body = NULL;
    reply->n_headers = 0;
    return NULL;
}

static struct err *exchange(struct http_transport *http, struct task *self,
                            const struct http_request *request, struct http_response *ret)
{
    struct arm_transport *transport = CONTAINER_OF(http, struct arm_transport, http);
    struct flight *flight = flight_new(transport, request);
    struct err *err = NULL;

    flight->holders = 2;
    if (flight->to_imds && !transport->vm)
        err = err_new(ERR_UNAVAILABLE, "%s: no route to host", request->url);
    else if (!group_spawn(&transport->requests, "azure request", serve, flight))
        err = err_new(ERR_UNAVAILABLE, "%s: connection refused", request->url);
    if (err)
        flight->holders = 1;
    while (!err && !flight->answered)
        err = wait_for_change(self, &flight->waiters, request->deadline);
    if (!err)
        err = take_response(flight, request, ret);
    flight_let_go(flight);
    return err;
}

static struct err *open_stream(struct http_transport *http, struct task *self,
                               const struct http_request *request,
                               struct http_response *ret_response, struct http_stream **ret_stream)
{
    (void)http, (void)self, (void)ret_response, (void)ret_stream;
    return err_new(ERR_UNIMPLEMENTED, "%s: Azure answers in one piece", request->url);
}

struct arm_transport *arm_transport_new(struct arm *arm, const char *vm)
{
    struct arm_transport *transport = mem_alloc(sizeof *transport);

    transport->http = (struct http_transport){.exchange = exchange, .open = open_stream};
    transport->arm = arm;
    transport->vm = mem_strdup(vm);
    group_init(&transport->requests, arm_model(arm)->loop);
    return transport;
}

void arm_transport_close(struct task *self, struct arm_transport *transport)
{
    group_close(self, &transport->requests);
    free(transport->vm);
    free(transport);
}

struct http_transport *arm_transport_http(struct arm_transport *transport)
{
    return &transport->http;
}
