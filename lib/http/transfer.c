#include "lib/http/transfer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/base/secret.h"

enum { STREAM_BUFFER = 1024 * 1024 }; /* a stream that is read slower than this is held up */

struct transfer *transfer_new(void *owner, const struct http_request *request, bool streams)
{
    struct transfer *transfer = mem_alloc(sizeof *transfer);
    size_t limit = request->max_response ? request->max_response : HTTP_DEFAULT_MAX_RESPONSE;

    *transfer = (struct transfer){.owner = owner, .request = request, .streams = streams};
    transfer->max_response = streams ? STREAM_BUFFER : limit;
    buffer_init(&transfer->body, transfer->max_response);
    waiters_init(&transfer->changed);
    return transfer;
}

void transfer_free(struct transfer *transfer)
{
    if (transfer->easy)
        curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    http_response_fini(&transfer->response);
    buffer_fini(&transfer->body);
    free(transfer->handed);
    free(transfer);
}

/* ---- what libcurl reports ---- */

static void add_header(struct http_response *response, const char *line, size_t length)
{
    const char *colon = memchr(line, ':', length);

    if (!colon || response->n_headers == HTTP_MAX_HEADERS)
        return;

    const char *value = colon + 1, *past = line + length;
    while (value < past && (*value == ' ' || *value == '\t'))
        value++;
    while (past > value && strchr(" \t\r\n", past[-1]))
        past--;
    ARRAY_ADD(response->headers, response->n_headers) = (struct http_header){
        mem_strndup(line, (size_t)(colon - line)), mem_strndup(value, (size_t)(past - value))};
}

/* Interim answers (100 Continue) have headers of their own, which the next status line ends. */
static size_t on_header(char *line, size_t size, size_t n, void *ctx)
{
    struct transfer *transfer = ctx;
    size_t length = size * n;
    long status;

    if (length >= 5 && strncasecmp(line, "HTTP/", 5) == 0) {
        http_response_fini(&transfer->response);
        return length;
    }
    if (length > 2) {
        add_header(&transfer->response, line, length);
        return length;
    }
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 200) {
        transfer->response.status = (int)status;
        transfer->answered = true;
        waiters_wake(&transfer->changed);
    }
    return length;
}

static size_t on_body(char *data, size_t size, size_t n, void *ctx)
{
    struct transfer *transfer = ctx;
    size_t length = size * n;
    bool streaming = transfer->streams && transfer->response.status == 200;

    if (buffer_append(&transfer->body, data, length)) {
        waiters_wake(&transfer->changed);
        return length;
    }
    if (streaming && transfer->body.length > 0) {
        transfer->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    transfer->too_large = true;
    return CURL_WRITEFUNC_ERROR;
}

void transfer_resume(void *arg)
{
    struct transfer *transfer = arg;

    if (transfer->abandoned || transfer->finished)
        return;
    transfer->paused = false;
    curl_easy_pause(transfer->easy, CURLPAUSE_CONT);
}

/* libcurl sends a request again when the connection that it had kept turns out to be dead. The
 * server may have carried out the first one, so only a read may be repeated. */
static int on_sending(void *ctx, char *remote_ip, char *local_ip, int remote_port, int local_port)
{
    struct transfer *transfer = ctx;

    (void)remote_ip, (void)local_ip, (void)remote_port, (void)local_port;
    if (transfer->abandoned || (transfer->sent && !transfer->repeatable))
        return CURL_PREREQFUNC_ABORT;
    transfer->refused = transfer->may_send && !transfer->may_send(transfer->may_send_ctx);
    transfer->sent = !transfer->refused;
    return transfer->sent ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

static void prepare_headers(struct transfer *transfer)
{
    const struct http_request *request = transfer->request;

    for (size_t i = 0; i < request->n_headers; i++) {
        CLEANUP(secret_freep)
        char *line = mem_printf("%s: %s", request->headers[i].name, request->headers[i].value);
        transfer->headers = curl_slist_append(transfer->headers, line);
    }
    /* Without these two, libcurl waits for leave to send a body, and calls any body a form. */
    transfer->headers = curl_slist_append(transfer->headers, "Expect:");
    if (!http_header_find(request->headers, request->n_headers, "Content-Type"))
        transfer->headers = curl_slist_append(transfer->headers, "Content-Type:");
    curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->headers);
}

void transfer_prepare(struct transfer *transfer)
{
    const struct http_request *request = transfer->request;
    const char *method = request->method ? request->method : "GET";
    CURL *easy = transfer->easy;

    transfer->repeatable = strcmp(method, "GET") == 0;
    transfer->may_send = request->may_send;
    transfer->may_send_ctx = request->may_send_ctx;
    prepare_headers(transfer);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->message);
    curl_easy_setopt(easy, CURLOPT_URL, request->url);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L); /* ".." may be somebody's name for a thing */
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_sending);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer);
    /* Without a body, POST, PUT and PATCH still say that its length is 0. */
    if (request->body || method[0] == 'P') {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_length);
        curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, request->body ? request->body : "");
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
    transfer->request = NULL;
}

void transfer_finish(struct transfer *transfer, CURLcode result)
{
    transfer->result = result;
    transfer->answered = transfer->finished = true;
    waiters_wake(&transfer->changed);
}

/* ---- what the waiting task gets ---- */

struct err *transfer_gave_up(const struct transfer *transfer, struct err *err)
{
    if (transfer->sent || err_kind(err) != ERR_TIMEOUT)
        return err;
    err_free(err);
    return err_new(ERR_NOT_SENT, "not sent: no connection was available in time");
}

static struct err *failure(const struct transfer *transfer)
{
    if (transfer->too_large)
        return err_new(ERR_EXHAUSTED, "the answer is larger than %zu bytes",
                       transfer->max_response);
    if (transfer->refused)
        return err_new(ERR_CANCELED, "not sent: the request is no longer permitted");
    /* libcurl does not mind an answer that ends within its headers. */
    if (transfer->result == CURLE_ABORTED_BY_CALLBACK ||
        (transfer->result == CURLE_OK && !transfer->response.status))
        return err_new(ERR_UNAVAILABLE, "the connection was closed before an answer arrived");
    if (transfer->result == CURLE_OK)
        return NULL;
    const char *reason =
        transfer->message[0] ? transfer->message : curl_easy_strerror(transfer->result);
    return transfer->sent ? err_new(ERR_UNAVAILABLE, "%s", reason)
                          : err_new(ERR_NOT_SENT, "not sent: %s", reason);
}

struct err *transfer_result(struct transfer *transfer, struct http_response *ret)
{
    TRY(failure(transfer));
    *ret = transfer->response;
    transfer->response = (struct http_response){0};
    ret->body_length = transfer->body.length;
    ret->body = buffer_take(&transfer->body);
    return NULL;
}

void transfer_head(struct transfer *transfer, struct http_response *ret)
{
    *ret = transfer->response;
    transfer->response = (struct http_response){.status = ret->status};
    ret->body = mem_strdup("");
}

struct err *transfer_take(struct transfer *transfer, const char **ret_data, size_t *ret_length)
{
    if (transfer->body.length == 0) {
        TRY(failure(transfer));
        *ret_data = "";
        *ret_length = 0;
        return NULL;
    }
    free(transfer->handed);
    *ret_length = transfer->body.length;
    *ret_data = transfer->handed = buffer_take(&transfer->body);
    return NULL;
}
