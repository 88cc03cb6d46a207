/* raw_server.h - a server that does exactly what a test wants, right or wrong.
 *
 * It runs on a thread of its own and serves one connection after the other on the loopback address.
 * raw_server_stop ends the connection that is being served.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define RAW_OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/* Serves a connection, the `n`th from 0; the caller closes it. */
typedef void raw_server_fn(int fd, unsigned n, void *ctx);

struct raw_server;

struct raw_server *raw_server_start(raw_server_fn *serve, void *ctx);
void raw_server_stop(struct raw_server *server);
const char *raw_server_url(const struct raw_server *server); /* "http://127.0.0.1:PORT" */
unsigned raw_server_port(const struct raw_server *server);
unsigned raw_server_connections(const struct raw_server *server);

/* For serving. A whole request with its body as text; false at the end of the connection. */
bool raw_read_request(int fd, char *request, size_t size);
/* False if the peer is gone. */
bool raw_write(int fd, const char *text);
bool raw_write_bytes(int fd, const void *data, size_t length);
/* Waits until the peer closes its side. */
void raw_wait_closed(int fd);
