#include "test/unit/lib/http/raw_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/http/listen.h"

struct raw_server {
    raw_server_fn *serve;
    void *ctx;
    int listening;
    char *url;
    atomic_uint connections;
    pthread_t thread;

    pthread_mutex_t lock;
    int serving; /* the connection that is being served; -1: none */
};

static void set_serving(struct raw_server *server, int fd)
{
    pthread_mutex_lock(&server->lock);
    server->serving = fd;
    pthread_mutex_unlock(&server->lock);
}

static void *serve_all(void *arg)
{
    struct raw_server *server = arg;
    int fd;

    while ((fd = accept(server->listening, NULL, NULL)) >= 0) {
        set_serving(server, fd);
        server->serve(fd, atomic_fetch_add(&server->connections, 1), server->ctx);
        set_serving(server, -1);
        close(fd);
    }
    return NULL;
}

struct raw_server *raw_server_start(raw_server_fn *serve, void *ctx)
{
    struct raw_server *server = mem_alloc(sizeof *server);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    server->serve = serve;
    server->ctx = ctx;
    server->serving = -1;
    pthread_mutex_init(&server->lock, NULL);
    server->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(server->listening, (struct sockaddr *)&address, sizeof address) ||
        listen(server->listening, 16))
        abort();
    server->url = mem_printf("http://127.0.0.1:%u", listen_port(server->listening));
    if (pthread_create(&server->thread, NULL, serve_all, server))
        abort();
    return server;
}

void raw_server_stop(struct raw_server *server)
{
    shutdown(server->listening, SHUT_RDWR); /* ends accept */
    pthread_mutex_lock(&server->lock);
    if (server->serving >= 0)
        shutdown(server->serving, SHUT_RDWR);
    pthread_mutex_unlock(&server->lock);
    pthread_join(server->thread, NULL);
    pthread_mutex_destroy(&server->lock);
    close(server->listening);
    free(server->url);
    free(server);
}

const char *raw_server_url(const struct raw_server *server)
{
    return server->url;
}

unsigned raw_server_port(const struct raw_server *server)
{
    return listen_port(server->listening);
}

unsigned raw_server_connections(const struct raw_server *server)
{
    return atomic_load(&server->connections);
}

static size_t body_length(const char *headers)
{
    const char *found = strcasestr(headers, "\r\ncontent-length:");

    return found ? strtoul(found + strlen("\r\ncontent-length:"), NULL, 10) : 0;
}

bool raw_read_request(int fd, char *request, size_t size)
{
    size_t length = 0, wanted = size;

    while (length < wanted) {
        ssize_t n = read(fd, request + length, size - 1 - length);
        if (n <= 0)
            return false;
        length += (size_t)n;
        request[length] = '\0';

        char *end = strstr(request, "\r\n\r\n");
        if (end)
            wanted = (size_t)(end - request) + 4 + body_length(request);
    }
    return true;
}

bool raw_write_bytes(int fd, const void *data, size_t length)
{
    const char *bytes = data;

    while (length > 0) {
        ssize_t n = send(fd, bytes, length, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        bytes += n;
        length -= (size_t)n;
    }
    return true;
}

bool raw_write(int fd, const char *text)
{
    return raw_write_bytes(fd, text, strlen(text));
}

void raw_wait_closed(int fd)
{
    char ignored[4096];

    while (read(fd, ignored, sizeof ignored) > 0)
        ;
}
