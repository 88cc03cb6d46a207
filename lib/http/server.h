/* server.h - an HTTP server (libmicrohttpd) whose handlers are tasks of the loop.
 *
 * libmicrohttpd reads requests and writes replies on a thread of its own; each complete request
 * becomes a task that runs the handler of its route, and the reply goes back. Handlers therefore
 * see all state of the loop without locks, and may wait.
 *
 * A path without a route gets 404, a known path with another method 405.
 *
 * Bounds, as configured, so that nobody can keep others from being served:
 * - `max_connections` in all and `max_per_address` of one address. A newcomer that finds no room is
 *   let in all the same: the connection that has waited longest for its client (of that address, or
 *   of all) is closed. Only when every one is with a handler is the newcomer closed.
 * - `request_ms` from the connection's beginning, or from the end of the reply before, until the
 *   request is there completely, TLS handshake and idle time included; `reply_ms` until the client
 *   has taken the reply. The connection is closed then, however busy the client was.
 * - 32 KiB of request line and headers (431), `max_body` bytes of body (413), `max_bodies` bytes of
 *   all bodies together (503). What is beyond is read and dropped; a body of more than 16 times
 *   `max_body` ends the connection.
 */
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/http/message.h"
#include "lib/rt/loop.h"

struct http_server;

/* A request, complete; valid while its handler runs. */
struct http_call {
    const char *method;
    const char *path;                    /* decoded, without the query */
    const char *query;                   /* as it was sent, without the "?"; "" if there is none */
    const struct http_header *arguments; /* of the query, decoded */
    size_t n_arguments;
    const struct http_header *headers;
    size_t n_headers;
    const char *body; /* ends in a NUL that is not counted; never NULL */
    size_t body_length;
};

/* How a reply goes out; all but the first are for simulations of failure, and of no effect without
 * a body. */
enum http_send_mode {
    HTTP_SEND_WHOLE,
    HTTP_SEND_CUT,     /* the connection breaks in the middle of the body */
    HTTP_SEND_CHUNKED, /* without saying how long the body is */
    HTTP_SEND_SLOWLY,  /* in pieces, over `send_ms` */
};

/* What the handler answers; starts as 200 with an empty body. */
struct http_reply {
    int status;
    char *body; /* owned by the reply; NULL: empty */
    size_t body_length;
    struct http_header headers[HTTP_MAX_HEADERS]; /* name and value are owned */
    size_t n_headers;
    bool hang_up; /* close the connection without an answer: for simulations of failure */
    enum http_send_mode send_mode;
    uint64_t send_ms;
};

/* Replaces a header of the same name. */
void http_reply_header(struct http_reply *reply, const char *name, const char *value);
/* Takes ownership of `body`, which ends in NUL. */
void http_reply_body(struct http_reply *reply, int status, const char *content_type, char *body);
void http_reply_text(struct http_reply *reply, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

typedef void http_handler(struct task *self, void *ctx, const struct http_call *call,
                          struct http_reply *reply);

struct http_route {
    const char *method; /* NULL: any */
    const char *path;   /* exact, or up to a final "*" a prefix */
    http_handler *handler;
};

struct http_server_config {
    const char *address; /* as listen.h has it; "127.0.0.1:0": a port is chosen */
    int listen_fd;       /* a listening socket to use instead, owned from then on; 0: none */
    const char *certificate_pem, *key_pem; /* both NULL: plain HTTP; else TLS 1.2 or later */
    const char *client_ca_pem;       /* with TLS: authorities; who has no certificate of theirs gets
                                      * nothing, not even a complete handshake; NULL: anybody may ask */
    const struct http_route *routes; /* tried in order; must outlive the server */
    size_t n_routes;
    void *ctx;                /* for the handlers */
    size_t max_body;          /* 0: 1 MiB */
    size_t max_bodies;        /* 0: 8 times max_body */
    unsigned max_connections; /* 0: 128 */
    unsigned max_per_address; /* 0: max_connections */
    uint64_t request_ms;      /* 0: 30 s */
    uint64_t reply_ms;        /* 0: 30 s */
};

/* If it cannot listen, the error of listen_on, with the address and the reason. */
struct err *http_server_new(struct loop *loop, const struct http_server_config *config,
                            struct http_server **ret_server) __attribute__((warn_unused_result));
unsigned http_server_port(const struct http_server *server);

/* Connections that are made from now on are shown this certificate; those that there are keep
 * theirs and go on. INVALID, and nothing has changed, if it cannot be used. Only of a server with
 * TLS that anybody may ask. Loop's thread and stack. */
struct err *http_server_renew(struct http_server *server, const char *certificate_pem,
                              const char *key_pem) __attribute__((warn_unused_result));

/* Answers new requests with 503; waits for the handlers that run and until their replies are sent,
 * then closes all connections and frees. */
void http_server_close(struct task *self, struct http_server *server);
