#include "lib/http/server.h"

#include <assert.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/http/connections.h"
#include "lib/http/listen.h"
#include "lib/http/reply_stream.h"
#include "lib/http/server_tls.h"
#include "lib/rt/wait.h"

enum {
    DEFAULT_MAX_BODY = 1024 * 1024,
    DEFAULT_BODIES = 8, /* of the largest size, at once */
    DEFAULT_CONNECTIONS = 128,
    DEFAULT_REQUEST_MS = 30 * 1000,
    DEFAULT_REPLY_MS = 30 * 1000,
    DROPPED_BODIES = 16,        /* of a body that is too large: how many times the limit is read */
    SOCKETS_PER_CONNECTION = 2, /* those that were ended are there until they are noticed */
    FAREWELL_MS = 2000,         /* for the last replies to be sent, when a server closes */
};

struct http_server {
    struct loop *loop;
    struct MHD_Daemon *daemon;
    int listen_fd;
    const struct http_route *routes;
    size_t n_routes;
    void *ctx;
    size_t max_body;
    bool demands_certificate; /* of clients */
    struct connections *connections;

    pthread_mutex_t identity_lock;
    struct server_identity *identity; /* shown from now on; NULL: what the server began with */

    atomic_bool closing;
    atomic_uint suspended; /* requests that are with the loop */
    atomic_uint unsent;    /* these, and those whose reply is not sent yet */
    struct waiters closer; /* waits for both to be 0 */
    struct timer farewell;
};

/* A connection, on libmicrohttpd's thread. */
struct visitor {
    struct connection *place;
    struct server_identity *identity; /* that it was shown; NULL likewise */
};

/* One request. It belongs to libmicrohttpd's thread, except while its connection is suspended: then
 * it belongs to the loop. */
struct exchange {
    struct http_server *server;
    struct MHD_Connection *connection;
    struct connection *place;
    char *query;
    struct buffer body;
    size_t received; /* of the body, with what was dropped */
    bool began, counted, answered;
    int refused_status; /* 0: it is not refused */
    struct http_header arguments[HTTP_MAX_HEADERS], headers[HTTP_MAX_HEADERS];
    struct http_call call;
    struct http_reply reply;
    struct reply_stream stream; /* of the reply, unless it goes out whole */
};

/* ---- replies ---- */

static void free_header(struct http_header *header)
{
    free((char *)(uintptr_t)header->name);
    free((char *)(uintptr_t)header->value);
}

void http_reply_header(struct http_reply *reply, const char *name, const char *value)
{
    size_t i = 0;

    while (i < reply->n_headers && strcasecmp(reply->headers[i].name, name) != 0)
        i++;
    assert(i < HTTP_MAX_HEADERS);
    if (i < reply->n_headers)
        free_header(&reply->headers[i]);
    else
        reply->n_headers++;
    reply->headers[i] = (struct http_header){mem_strdup(name), mem_strdup(value)};
}

void http_reply_body(struct http_reply *reply, int status, const char *content_type, char *body)
{
    free(reply->body);
    reply->status = status;
    reply->body = body;
    reply->body_length = strlen(body);
    http_reply_header(reply, "Content-Type", content_type);
}

void http_reply_text(struct http_reply *reply, int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    http_reply_body(reply, status, "text/plain; charset=utf-8", mem_vprintf(format, args));
    va_end(args);
}

static void reply_fini(struct http_reply *reply)
{
    for (size_t i = 0; i < reply->n_headers; i++)
        free_header(&reply->headers[i]);
    free(reply->body);
}

/* ---- counting, for http_server_close ---- */

static void wake_closer(void *arg)
{
    struct http_server *server = arg;

    waiters_wake(&server->closer);
}

static void count_down(struct http_server *server, atomic_uint *counter)
{
    if (atomic_fetch_sub(counter, 1) == 1)
        loop_post(server->loop, wake_closer, server);
}

/* ---- on the loop: route and handler ---- */

static bool path_matches(const char *pattern, const char *path)
{
    size_t length = strlen(pattern);

    if (length && pattern[length - 1] == '*')
        return strncmp(pattern, path, length - 1) == 0;
    return strcmp(pattern, path) == 0;
}

static const struct http_route *find_route(const struct http_server *server,
                                           const struct http_call *call, bool *ret_known_path)
{
    *ret_known_path = false;
    for (size_t i = 0; i < server->n_routes; i++) {
        const struct http_route *route = &server->routes[i];

        if (!path_matches(route->path, call->path))
            continue;
        *ret_known_path = true;
        if (!route->method || strcmp(route->method, call->method) == 0)
            return route;
    }
    return NULL;
}

static void handle(struct task *self, void *arg)
{
    struct exchange *exchange = arg;
    struct http_server *server = exchange->server;
    const struct http_call *call = &exchange->call;
    bool known_path;
    const struct http_route *route = find_route(server, call, &known_path);

    if (route)
        route->handler(self, server->ctx, call, &exchange->reply);
    else
        http_reply_text(&exchange->reply, known_path ? 405 : 404, "%s %s: no such %s\n",
                        call->method, call->path, known_path ? "method for this path" : "path");
    exchange->answered = true;
    connections_await_reply(server->connections, exchange->place, exchange->reply.send_ms);
    MHD_resume_connection(exchange->connection); /* gives the exchange back */
    count_down(server, &server->suspended);
}

static void dispatch(void *arg)
{
    struct exchange *exchange = arg;

    loop_spawn(exchange->server->loop, "http request", handle, exchange);
}

/* ---- on libmicrohttpd's thread ---- */

static struct server_identity *newest_identity(struct http_server *server)
{
    pthread_mutex_lock(&server->identity_lock);
    struct server_identity *identity = server_identity_ref(server->identity);
    pthread_mutex_unlock(&server->identity_lock);
    return identity;
}

static struct visitor *connection_begins(struct http_server *server,
                                         struct MHD_Connection *connection)
{
    struct visitor *visitor = mem_alloc(sizeof *visitor);

    visitor->identity = newest_identity(server);
    if (visitor->identity)
        server_identity_show(visitor->identity, connection);
    if (server->demands_certificate)
        server_tls_demand_certificate(connection);
    visitor->place = connections_add(
        server->connections,
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
    return visitor;
}

static void connection_ends(struct http_server *server, struct visitor *visitor)
{
    connections_remove(server->connections, visitor->place);
    server_identity_unref(visitor->identity);
    free(visitor);
}

static void connection_changes(void *ctx, struct MHD_Connection *connection, void **visitor,
                               enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        *visitor = connection_begins(ctx, connection);
    else
        connection_ends(ctx, TAKE_PTR(*visitor));
}

static void *request_begins(void *ctx, const char *uri, struct MHD_Connection *connection)
{
    struct exchange *exchange = mem_alloc(sizeof *exchange);
    const char *query = strchr(uri, '?');
    const struct visitor *visitor =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;

    exchange->server = ctx;
    exchange->connection = connection;
    exchange->place = visitor->place;
    exchange->query = mem_strdup(query ? query + 1 : "");
    buffer_init(&exchange->body, exchange->server->max_body);
    exchange->reply.status = 200;
    return exchange;
}

static void request_ends(void *ctx, struct MHD_Connection *connection, void **con_cls,
                         enum MHD_RequestTerminationCode code)
{
    struct exchange *exchange = *con_cls;

    (void)ctx, (void)connection, (void)code;
    if (!exchange)
        return;
    if (exchange->counted)
        count_down(exchange->server, &exchange->server->unsent);
    connections_await_request(exchange->server->connections, exchange->place);
    free(exchange->query);
    buffer_fini(&exchange->body);
    reply_fini(&exchange->reply);
    free(exchange);
    *con_cls = NULL;
}

static enum MHD_Result collect(void *ctx, enum MHD_ValueKind kind, const char *name,
                               const char *value)
{
    struct exchange *exchange = ctx;
    bool header = kind == MHD_HEADER_KIND;
    struct http_header *list = header ? exchange->headers : exchange->arguments;
    size_t *n = header ? &exchange->call.n_headers : &exchange->call.n_arguments;

    if (*n < HTTP_MAX_HEADERS)
        list[(*n)++] = (struct http_header){name, value ? value : ""};
    return MHD_YES;
}

static bool may_pause(void *ctx)
{
    struct http_server *server = ctx;

    if (atomic_load(&server->closing))
        return false;
    atomic_fetch_add(&server->suspended, 1);
    return true;
}

static void pause_over(void *ctx)
{
    struct http_server *server = ctx;

    count_down(server, &server->suspended);
}

static struct MHD_Response *make_response(struct exchange *exchange)
{
    const struct http_reply *reply = &exchange->reply;

    if (!reply->body || reply->send_mode == HTTP_SEND_WHOLE)
        return MHD_create_response_from_buffer(reply->body ? reply->body_length : 0, reply->body,
                                               MHD_RESPMEM_PERSISTENT);
    exchange->stream = (struct reply_stream){.loop = exchange->server->loop,
                                             .connection = exchange->connection,
                                             .reply = reply,
                                             .server = exchange->server,
                                             .may_pause = may_pause,
                                             .pause_over = pause_over};
    return reply_stream_response(&exchange->stream);
}

static enum MHD_Result send_reply(struct exchange *exchange)
{
    const struct http_reply *reply = &exchange->reply;

    if (reply->hang_up)
        return MHD_NO;

    struct MHD_Response *response = make_response(exchange);
    for (size_t i = 0; i < reply->n_headers; i++)
        MHD_add_response_header(response, reply->headers[i].name, reply->headers[i].value);
    enum MHD_Result result =
        MHD_queue_response(exchange->connection, (unsigned)reply->status, response);
    MHD_destroy_response(response);
    return result;
}

/* The request is complete: over to the loop, unless the server is about to go. */
static enum MHD_Result hand_over(struct exchange *exchange)
{
    struct http_server *server = exchange->server;

    exchange->counted = true;
    atomic_fetch_add(&server->unsent, 1);
    atomic_fetch_add(&server->suspended, 1);
    if (atomic_load(&server->closing)) {
        count_down(server, &server->suspended);
        http_reply_text(&exchange->reply, 503, "shutting down\n");
        return send_reply(exchange);
    }
    connections_give_to_handler(server->connections, exchange->place);
    MHD_suspend_connection(exchange->connection);
    loop_post(server->loop, dispatch, exchange);
    return MHD_YES;
}

/* What finds no room is dropped, so that the client gets to the answer; but not without end. */
static enum MHD_Result take_piece(struct exchange *exchange, const char *piece, size_t length)
{
    struct http_server *server = exchange->server;

    exchange->received += length;
    if (exchange->received / DROPPED_BODIES > server->max_body)
        return MHD_NO;
    if (exchange->refused_status)
        return MHD_YES;
    if (!connections_hold(server->connections, exchange->place, length))
        exchange->refused_status = 503;
    else if (!buffer_append(&exchange->body, piece, length))
        exchange->refused_status = 413;
    if (exchange->refused_status)
        buffer_fini(&exchange->body);
    return MHD_YES;
}

static enum MHD_Result refuse(struct exchange *exchange)
{
    if (exchange->refused_status == 413)
        http_reply_text(&exchange->reply, 413, "the body is larger than %zu bytes\n",
                        exchange->server->max_body);
    else
        http_reply_text(&exchange->reply, exchange->refused_status,
                        "too many concurrent requests\n");
    connections_await_reply(exchange->server->connections, exchange->place, 0);
    return send_reply(exchange);
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **con_cls)
{
    struct exchange *exchange = *con_cls;

    (void)ctx, (void)version;
    if (exchange->answered)
        return send_reply(exchange);
    if (!exchange->began) {
        exchange->began = true;
        return MHD_YES;
    }
    if (*upload_size > 0) {
        size_t length = *upload_size;

        *upload_size = 0;
        return take_piece(exchange, upload, length);
    }
    if (exchange->refused_status)
        return refuse(exchange);
    exchange->call = (struct http_call){
        .method = method,
        .path = url,
        .query = exchange->query,
        .arguments = exchange->arguments,
        .headers = exchange->headers,
        .body = exchange->body.data ? exchange->body.data : "",
        .body_length = exchange->body.length,
    };
    MHD_get_connection_values(connection, MHD_HEADER_KIND, collect, exchange);
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, collect, exchange);
    return hand_over(exchange);
}

/* ---- the server ---- */

static size_t body_limit(const struct http_server_config *config)
{
    return config->max_body ? config->max_body : DEFAULT_MAX_BODY;
}

static struct connections_config limits_of(struct loop *loop,
                                           const struct http_server_config *config)
{
    struct connections_config limits = {
        .loop = loop,
        .most = config->max_connections ? config->max_connections : DEFAULT_CONNECTIONS,
        .most_bytes = config->max_bodies,
        .request_ms = config->request_ms ? config->request_ms : DEFAULT_REQUEST_MS,
        .reply_ms = config->reply_ms ? config->reply_ms : DEFAULT_REPLY_MS,
    };

    limits.most_of_address = config->max_per_address ? config->max_per_address : limits.most;
    if (!limits.most_bytes)
        limits.most_bytes = DEFAULT_BODIES * body_limit(config);
    return limits;
}

/* Takes the listening socket, also when it fails. */
static struct err *start_daemon(struct http_server *server, const struct http_server_config *config)
{
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    unsigned sockets = SOCKETS_PER_CONNECTION * limits_of(server->loop, config).most;
    struct MHD_OptionItem tls[SERVER_TLS_OPTIONS];

    server_tls_options(config, tls);
    if (config->certificate_pem)
        flags |= MHD_USE_TLS;
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, server, MHD_OPTION_ARRAY, tls, MHD_OPTION_LISTEN_SOCKET,
        server->listen_fd, MHD_OPTION_URI_LOG_CALLBACK, request_begins, server,
        MHD_OPTION_NOTIFY_COMPLETED, request_ends, NULL, MHD_OPTION_NOTIFY_CONNECTION,
        connection_changes, server, MHD_OPTION_CONNECTION_LIMIT, sockets, MHD_OPTION_END);
    if (!server->daemon)
        return err_new(ERR_INTERNAL, "cannot start the HTTP server on %s",
                       config->address ? config->address : "the given socket");
    return NULL;
}

struct err *http_server_new(struct loop *loop, const struct http_server_config *config,
                            struct http_server **ret_server)
{
    CLEANUP(freep) struct http_server *server = mem_alloc(sizeof *server);

    *server = (struct http_server){
        .loop = loop,
        .listen_fd = config->listen_fd,
        .routes = config->routes,
        .n_routes = config->n_routes,
        .ctx = config->ctx,
        .max_body = body_limit(config),
        .demands_certificate = config->certificate_pem && config->client_ca_pem,
    };
    waiters_init(&server->closer);
    pthread_mutex_init(&server->identity_lock, NULL);
    TRY(server_tls_check(config));
    if (!config->listen_fd)
        TRY(listen_on(config->address, &server->listen_fd));
    const struct connections_config limits = limits_of(loop, config);
    server->connections = connections_new(&limits);
    struct err *err = start_daemon(server, config);
    if (err) {
        connections_free(server->connections);
        return err;
    }
    *ret_server = TAKE_PTR(server);
    return NULL;
}

struct err *http_server_renew(struct http_server *server, const char *certificate_pem,
                              const char *key_pem)
{
    struct server_identity *identity;

    assert(!server->demands_certificate);
    TRY(server_identity_new(certificate_pem, key_pem, &identity));
    pthread_mutex_lock(&server->identity_lock);
    struct server_identity *before = server->identity;
    server->identity = identity;
    pthread_mutex_unlock(&server->identity_lock);
    server_identity_unref(before);
    return NULL;
}

unsigned http_server_port(const struct http_server *server)
{
    return listen_port(server->listen_fd);
}

static void stop_daemon(void *arg)
{
    struct http_server *server = arg;

    MHD_stop_daemon(server->daemon);
}

static void free_server(void *arg)
{
    struct http_server *server = arg;

    connections_free(server->connections);
    server_identity_unref(server->identity);
    pthread_mutex_destroy(&server->identity_lock);
    free(server);
}

/* Handlers may yield for long and are waited for; a client that does not read its reply is not. */
void http_server_close(struct task *self, struct http_server *server)
{
    if (!server)
        return;
    atomic_store(&server->closing, true);
    while (atomic_load(&server->suspended) > 0)
        wait_uninterruptible(self, &server->closer);

    uint64_t deadline = loop_deadline(server->loop, FAREWELL_MS);
    loop_start_timer(server->loop, &server->farewell, deadline, wake_closer, server);
    while (atomic_load(&server->unsent) > 0 && loop_now(server->loop) < deadline)
        wait_uninterruptible(self, &server->closer);
    loop_stop_timer(server->loop, &server->farewell);
    loop_call(self, stop_daemon, server);
    loop_call(self, free_server, server); /* behind the last post of libmicrohttpd's thread */
}
