/* connections.h - the connections of a server: how many there may be, how long each may keep the
 * server waiting, and which one gives way to another; for server.c only.
 *
 * A connection waits for its client (for a request to be complete, or for the reply to be taken) or
 * is with a handler. While it waits for its client it has a deadline for the whole of that, however
 * many bytes come meanwhile. When there is no room for a newcomer, or for another piece of a body,
 * the connection that has waited longest for its client is ended to make some; that is what keeps a
 * place for a probe among clients that only sit there. libmicrohttpd refuses newcomers instead, and
 * its timeout begins anew with every byte, which is why neither is used.
 *
 * A connection is ended by shutting its socket down; libmicrohttpd finds that out and removes it.
 * connections_new and connections_free are for the loop's thread, the rest for libmicrohttpd's,
 * except connections_await_reply, which both may call.
 */
#pragma once

#include <sys/socket.h>

#include "lib/rt/loop.h"

struct connections;
struct connection;

struct connections_config {
    struct loop *loop;
    unsigned most, most_of_address;
    size_t most_bytes; /* of requests that are held in memory */
    uint64_t request_ms, reply_ms;
};

struct connections *connections_new(const struct connections_config *config);
/* Behind the last of what libmicrohttpd's thread has posted; NULL is fine. */
void connections_free(struct connections *connections);

/* A connection that waits for its first request. */
struct connection *connections_add(struct connections *connections, int fd,
                                   const struct sockaddr *address);
/* Before its socket is closed. */
void connections_remove(struct connections *connections, struct connection *connection);

/* `bytes` more of the request that the connection is sending are to be held until the next request
 * is awaited. False if there is no room for them. */
bool connections_hold(struct connections *connections, struct connection *connection, size_t bytes);

void connections_await_request(struct connections *connections, struct connection *connection);
void connections_give_to_handler(struct connections *connections, struct connection *connection);
/* `more_ms`: what the server itself takes in sending it. */
void connections_await_reply(struct connections *connections, struct connection *connection,
                             uint64_t more_ms);
