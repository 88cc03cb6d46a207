#include "lib/http/client.h"

#include <assert.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "lib/base/alloc.h"
#include "lib/base/file.h"
#include "lib/http/certificates.h"
#include "lib/http/transfer.h"
#include "lib/rt/wait.h"

enum {
    CONNECT_TIMEOUT_MS = 10 * 1000,
    /* A connection that was idle for longer is not used again. Servers close theirs, kube-apiserver
     * after 90 seconds, and a request that is just then on its way has no answer: nobody knows
     * whether it was carried out. */
    IDLE_SECONDS = 60,
    PROBE_SECONDS = 10, /* of silence, then the kernel asks whether the peer is still there */
    DEAD_AFTER_MS = 30 * 1000,
    DEFAULT_CONNECTIONS = 16,
    LARGEST_BUNDLE = 4 * 1024 * 1024,
    KEPT_CONNECTIONS = 256, /* idle or in use, to all hosts; more are closed after use */
};

struct http_client {
    struct http_transport transport;
    struct loop *loop;
    CURLM *multi;
    struct semaphore connections; /* one for each exchange; streams do not count */
    struct timer timeout;         /* when libcurl wants to be called without an event */
    char *user_agent, *ca_pem, *certificate_pem, *key_pem, *proxy;
};

/* A connection's socket in libuv. */
struct watched_socket {
    uv_poll_t poll;
    struct http_client *client;
    curl_socket_t fd;
};

/* ---- libcurl on the loop ---- */

/* Hands every finished transfer to whoever waits for it. */
static void collect_finished(struct http_client *client)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(client->multi, &left))) {
        struct transfer *transfer;

        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        CURLcode result = message->data.result;
        curl_multi_remove_handle(client->multi, message->easy_handle);
        transfer_finish(transfer, result);
    }
}

static void socket_event(uv_poll_t *poll, int status, int events)
{
    struct watched_socket *socket = poll->data;
    struct http_client *client = socket->client;
    int running, flags = 0;

    /* libcurl finds out what the error is when it reads or writes. */
    flags |= status < 0 || events & UV_READABLE ? CURL_CSELECT_IN : 0;
    flags |= status < 0 || events & UV_WRITABLE ? CURL_CSELECT_OUT : 0;
    curl_multi_socket_action(client->multi, socket->fd, flags, &running);
    collect_finished(client);
}

static void free_socket(uv_handle_t *handle)
{
    free(handle->data);
}

static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *assigned)
{
    struct http_client *client = ctx;
    struct watched_socket *socket = assigned;
    int events = 0;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (!socket)
            return 0;
        uv_poll_stop(&socket->poll);
        uv_close((uv_handle_t *)&socket->poll, free_socket);
        curl_multi_assign(client->multi, fd, NULL);
        return 0;
    }
    if (!socket) {
        socket = mem_alloc(sizeof *socket);
        *socket = (struct watched_socket){.client = client, .fd = fd};
        uv_poll_init_socket(loop_uv(client->loop), &socket->poll, fd);
        socket->poll.data = socket;
        curl_multi_assign(client->multi, fd, socket);
    }
    events |= what == CURL_POLL_IN || what == CURL_POLL_INOUT ? UV_READABLE : 0;
    events |= what == CURL_POLL_OUT || what == CURL_POLL_INOUT ? UV_WRITABLE : 0;
    uv_poll_start(&socket->poll, events, socket_event);
    return 0;
}

static void timeout_passed(void *ctx)
{
    struct http_client *client = ctx;
    int running;

    curl_multi_socket_action(client->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    collect_finished(client);
}

static int want_timeout(CURLM *multi, long ms, void *ctx)
{
    struct http_client *client = ctx;

    (void)multi;
    if (ms < 0)
        loop_stop_timer(client->loop, &client->timeout);
    else
        loop_start_timer(client->loop, &client->timeout, loop_now(client->loop) + (uint64_t)ms,
                         timeout_passed, client);
    return 0;
}

/* ---- transfers ---- */

static void set_blob(CURL *easy, CURLoption option, const char *pem)
{
    struct curl_blob blob = {(void *)(uintptr_t)pem, strlen(pem), CURL_BLOB_NOCOPY};

    curl_easy_setopt(easy, option, &blob);
}

/* Without an answer for so long, to a probe or to data, the connection is dead. Programs that are
 * started (fsck may run for an hour) must not keep it open when it is closed here. */
static int set_socket_options(void *ctx, curl_socket_t fd, curlsocktype purpose)
{
    int ms = DEAD_AFTER_MS;

    (void)ctx, (void)purpose;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
    return CURL_SOCKOPT_OK;
}

static void set_connection_options(const struct http_client *client, CURL *easy)
{
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    /* libcurl looks names up in a thread, and would wait on the loop's for one that it gives up. */
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)IDLE_SECONDS);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, (long)PROBE_SECONDS);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, (long)PROBE_SECONDS);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, set_socket_options);
    if (client->user_agent)
        curl_easy_setopt(easy, CURLOPT_USERAGENT, client->user_agent);
    if (client->proxy) {
        curl_easy_setopt(easy, CURLOPT_PROXY, client->proxy);
        curl_easy_setopt(easy, CURLOPT_NOPROXY, ""); /* the environment's would count */
    }
    if (client->ca_pem) {
        set_blob(easy, CURLOPT_CAINFO_BLOB, client->ca_pem);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL); /* the system's would be trusted as well */
    }
    if (client->certificate_pem) {
        set_blob(easy, CURLOPT_SSLCERT_BLOB, client->certificate_pem);
        set_blob(easy, CURLOPT_SSLKEY_BLOB, client->key_pem);
    }
}

/* On the loop's stack, as every call into libcurl that can do I/O. */
static void begin(void *arg)
{
    struct transfer *transfer = arg;
    struct http_client *client = transfer->owner;

    if (transfer->abandoned) {
        transfer_free(transfer);
        return;
    }
    transfer->easy = curl_easy_init();
    if (!transfer->easy)
        abort();
    set_connection_options(client, transfer->easy);
    transfer_prepare(transfer);
    curl_multi_add_handle(client->multi, transfer->easy);
}

static void end(void *arg)
{
    struct transfer *transfer = arg;
    struct http_client *client = transfer->owner;

    if (!transfer->finished)
        curl_multi_remove_handle(client->multi, transfer->easy);
    transfer_free(transfer);
}

/* The task goes; the transfer follows when the loop's stack is free. `begin` may still be due. */
static void abandon(struct transfer *transfer)
{
    struct http_client *client = transfer->owner;

    transfer->abandoned = true;
    if (transfer->easy)
        loop_post(client->loop, end, transfer);
}

static struct transfer *start(struct http_client *client, const struct http_request *request,
                              bool streams)
{
    struct transfer *transfer = transfer_new(client, request, streams);

    loop_post(client->loop, begin, transfer);
    return transfer;
}

static struct err *wait_until(struct task *self, struct transfer *transfer, const bool *condition,
                              uint64_t deadline)
{
    struct err *err = NULL;

    while (!*condition && !err)
        err = wait_for_change(self, &transfer->changed, deadline);
    return err ? transfer_gave_up(transfer, err) : NULL;
}

static struct err *failed(const struct http_request *request, struct err *err)
{
    return err_wrap(err, "%s %s", request->method ? request->method : "GET", request->url);
}

static struct err *exchange(struct http_transport *transport, struct task *self,
                            const struct http_request *request, struct http_response *ret)
{
    struct http_client *client = CONTAINER_OF(transport, struct http_client, transport);

    struct err *err = NULL;
    if (!request->urgent)
        err = semaphore_take(self, &client->connections, request->deadline);
    if (err && err_kind(err) == ERR_TIMEOUT) {
        err_free(err);
        err = err_new(ERR_NOT_SENT, "not sent: all %u connections were in use",
                      client->connections.limit);
    }
    if (err)
        return failed(request, err);
    struct transfer *transfer = start(client, request, false);
    err = wait_until(self, transfer, &transfer->finished, request->deadline);
    if (!err)
        err = transfer_result(transfer, ret);
    abandon(transfer);
    if (!request->urgent)
        semaphore_give(&client->connections);
    return err ? failed(request, err) : NULL;
}

static struct err *read_stream(struct http_stream *stream, struct task *self, uint64_t deadline,
                               const char **ret_data, size_t *ret_length)
{
    struct transfer *transfer = CONTAINER_OF(stream, struct transfer, stream);
    struct http_client *client = transfer->owner;

    if (transfer->paused && transfer->body.length == 0)
        loop_post(client->loop, transfer_resume, transfer);
    while (transfer->body.length == 0 && !transfer->finished)
        TRY(wait_for_change(self, &transfer->changed, deadline));
    return transfer_take(transfer, ret_data, ret_length);
}

static void close_stream(struct http_stream *stream)
{
    abandon(CONTAINER_OF(stream, struct transfer, stream));
}

static struct err *open_stream(struct http_transport *transport, struct task *self,
                               const struct http_request *request,
                               struct http_response *ret_response, struct http_stream **ret_stream)
{
    struct http_client *client = CONTAINER_OF(transport, struct http_client, transport);
    struct transfer *transfer = start(client, request, true);

    transfer->stream = (struct http_stream){.read = read_stream, .close = close_stream};
    struct err *err = wait_until(self, transfer, &transfer->answered, request->deadline);
    if (!err && transfer->response.status != 200)
        err = wait_until(self, transfer, &transfer->finished, request->deadline);
    if (!err && transfer->response.status == 200) {
        transfer_head(transfer, ret_response);
        *ret_stream = &transfer->stream;
        return NULL;
    }
    if (!err)
        err = transfer_result(transfer, ret_response);
    abandon(transfer);
    return err ? failed(request, err) : NULL;
}

/* ---- the client ---- */

/* NULL if the system's are to be trusted. */
static struct err *load_authorities(const struct http_client_config *config, char **ret_pem)
{
    CLEANUP(freep) char *pem = mem_strdup(config->ca_pem);
    struct err *err = NULL;

    if (!pem && config->ca_file)
        err = file_read(config->ca_file, LARGEST_BUNDLE, &pem, NULL);
    if (!err && pem)
        err = certificates_check(pem);
    if (err)
        return err_wrap(err, "certificate authority");
    *ret_pem = TAKE_PTR(pem);
    return NULL;
}

static struct err *check_certificate(const struct http_client_config *config)
{
    if (!config->certificate_pem)
        return NULL;
    struct err *err = certificates_check_pair(config->certificate_pem, config->key_pem);
    return err ? err_wrap(err, "client certificate") : NULL;
}

static CURLM *new_multi(struct http_client *client)
{
    CURLM *multi = curl_multi_init();

    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, client);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, want_timeout);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, client);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)KEPT_CONNECTIONS);
    return multi;
}

struct err *http_client_new(struct loop *loop, const struct http_client_config *config,
                            struct http_client **ret_client)
{
    char *ca_pem;

    assert(loop_uv(loop));
    TRY(check_certificate(config));
    TRY(load_authorities(config, &ca_pem));

    struct http_client *client = mem_alloc(sizeof *client);
    *client = (struct http_client){
        .transport = {.exchange = exchange, .open = open_stream},
        .loop = loop,
        .user_agent = mem_strdup(config->user_agent),
        .ca_pem = ca_pem,
        .certificate_pem = mem_strdup(config->certificate_pem),
        .key_pem = mem_strdup(config->key_pem),
        .proxy = mem_strdup(config->proxy),
    };
    semaphore_init(&client->connections,
                   config->max_connections ? config->max_connections : DEFAULT_CONNECTIONS);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    client->multi = new_multi(client);
    *ret_client = client;
    return NULL;
}

static void destroy(void *arg)
{
    struct http_client *client = arg;

    curl_multi_cleanup(client->multi);
    loop_stop_timer(client->loop, &client->timeout);
    curl_global_cleanup();
    free(client->user_agent);
    free(client->ca_pem);
    free(client->certificate_pem);
    free(client->key_pem);
    free(client->proxy);
    free(client);
}

/* Behind the ends of transfers that have been posted. */
void http_client_free(struct http_client *client)
{
    if (client)
        loop_post(client->loop, destroy, client);
}

struct http_transport *http_client_transport(struct http_client *client)
{
    return &client->transport;
}
