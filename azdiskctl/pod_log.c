#include "azdiskctl/pod_log.h"

#include <inttypes.h>

#include "lib/base/alloc.h"
#include "lib/base/secret.h"
#include "lib/base/timestamp.h"
#include "lib/json/parse.h"

enum {
    MOST_LINES = 50000,              /* that the server sends */
    MOST_BYTES = 64 * 1024 * 1024,   /* that are read for the newest ones */
    LONGEST_READ_MS = 2 * 60 * 1000, /* of a whole log */
    OWN_HEADERS = 2,
};

static char *since_of(const struct pod_log *log)
{
    char time[TIMESTAMP_SIZE];

    if (log->since_ms)
        return mem_printf("&sinceSeconds=%" PRIu64, (log->since_ms + 999) / 1000);
    if (!log->since_us)
        return mem_strdup("");
    timestamp_format(log->since_us, time);
    return mem_printf("&sinceTime=%s", time);
}

/* `most_lines` 0: all of them. */
static char *url_of(const struct kube_config *config, const struct pod_log *log, int most_lines)
{
    CLEANUP(freep) char *namespace_ = http_escape(log->namespace_);
    CLEANUP(freep) char *pod = http_escape(log->pod);
    CLEANUP(freep) char *container = http_escape(log->container);
    CLEANUP(freep) char *since = since_of(log);
    CLEANUP(freep)
    char *tail = most_lines ? mem_printf("&tailLines=%d", most_lines) : mem_strdup("");

    return mem_printf("%s/api/v1/namespaces/%s/pods/%s/log?container=%s&previous=%s%s%s%s%s",
                      config->server, namespace_, pod, container, log->previous ? "true" : "false",
                      tail, log->timestamps ? "&timestamps=true" : "",
                      log->follow ? "&follow=true" : "", since);
}

static struct err *open_once(struct task *self, const struct kube_connection *connection,
                             struct bearer_token *token, const char *url, uint64_t deadline,
                             struct http_response *response, struct http_stream **ret_stream)
{
    struct http_transport *transport = http_client_transport(connection->http);
    const struct impersonation *impersonation = &connection->config.impersonation;
    CLEANUP(freep)
    struct http_header *headers = mem_alloc((OWN_HEADERS + impersonation->n) * sizeof *headers);
    const char *text = bearer_token_text(token);
    CLEANUP(secret_freep) char *bearer = text ? mem_printf("Bearer %s", text) : NULL;
    size_t n = 0;

    headers[n++] = (struct http_header){"Accept", "text/plain, application/json"};
    if (bearer)
        headers[n++] = (struct http_header){"Authorization", bearer};
    for (size_t i = 0; i < impersonation->n; i++)
        headers[n++] = impersonation->headers[i];

    const struct http_request request = {
        .url = url,
        .headers = headers,
        .n_headers = n,
        .deadline = deadline,
    };
    return transport->open(transport, self, &request, response, ret_stream);
}

/* A token that is refused is had anew, once. */
static struct err *open_log(struct task *self, const struct kube_connection *connection,
                            struct bearer_token *token, const char *url, uint64_t deadline,
                            struct http_response *response, struct http_stream **ret_stream)
{
    TRY(bearer_token_freshen(self, token));
    unsigned serial = bearer_token_serial(token);

    TRY(open_once(self, connection, token, url, deadline, response, ret_stream));
    if (response->status != 401 || !bearer_token_refused(token, serial))
        return NULL;
    http_response_fini(response);
    TRY(bearer_token_freshen(self, token));
    return open_once(self, connection, token, url, deadline, response, ret_stream);
}

static struct err *refused(struct task *self, const struct http_response *response)
{
    CLEANUP(json_decrefp) json_t *json = NULL;

    err_free(json_parse(self, response->body, response->body_length, &json));
    return json_is_object(json) ? kube_status_err(response->status, json)
                                : err_new(ERR_UNAVAILABLE, "HTTP %d", response->status);
}

static struct err *open_url(struct task *self, const struct kube_connection *connection,
                            struct bearer_token *token, const char *url, uint64_t deadline,
                            struct http_stream **ret_stream)
{
    CLEANUP(http_response_finip) struct http_response response = {0};

    TRY(open_log(self, connection, token, url, deadline, &response, ret_stream));
    return *ret_stream ? NULL : refused(self, &response);
}

static uint64_t answer_deadline(struct task *self)
{
    return loop_deadline(loop_of(self), KUBE_CALL_TIMEOUT_MS);
}

struct err *pod_log_open(struct task *self, const struct kube_connection *connection,
                         struct bearer_token *token, const struct pod_log *log,
                         struct http_stream **ret_stream)
{
    CLEANUP(freep) char *url = url_of(&connection->config, log, 0);

    return open_url(self, connection, token, url, log->follow ? TIMER_NEVER : answer_deadline(self),
                    ret_stream);
}

struct err *pod_log_read(struct task *self, const struct kube_connection *connection,
                         struct bearer_token *token, const struct pod_log *log,
                         struct log_tail *tail)
{
    uint64_t deadline = loop_deadline(loop_of(self), LONGEST_READ_MS);
    CLEANUP(freep) char *url = url_of(&connection->config, log, MOST_LINES);
    CLEANUP(http_stream_closep) struct http_stream *stream = NULL;
    const char *data;
    size_t length;

    TRY(open_url(self, connection, token, url, answer_deadline(self), &stream));
    for (;;) {
        TRY(stream->read(stream, self, deadline, &data, &length));
        if (!length)
            return NULL;
        log_tail_add(tail, data, length);
        if (tail->bytes > MOST_BYTES)
            return err_new(ERR_EXHAUSTED, "the last %d lines have more than %d MiB", MOST_LINES,
                           MOST_BYTES >> 20);
    }
}
