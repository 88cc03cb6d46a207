/* transfer.h - one request in libcurl, from its start to its end; for client.c only.
 *
 * A transfer is on the heap because it may outlive the task that began it: a task that gives up
 * marks it abandoned and goes, and the loop ends it.
 */
#pragma once

#include <curl/curl.h>

#include "lib/base/buffer.h"
#include "lib/http/transport.h"
#include "lib/rt/wait.h"

struct transfer {
    struct http_stream stream;
    void *owner;                        /* the client */
    const struct http_request *request; /* until the transfer is prepared */
    size_t max_response;
    bool streams;
    bool repeatable; /* a read: sending it twice does no harm */
    bool (*may_send)(void *ctx);
    void *may_send_ctx;

    CURL *easy;
    struct curl_slist *headers;
    char message[CURL_ERROR_SIZE];

    bool sent, refused;
    bool answered; /* status and headers are there */
    bool finished; /* nothing more will come */
    bool abandoned;
    bool paused; /* the body comes faster than it is read */
    bool too_large;
    CURLcode result;
    struct http_response response; /* status and headers */
    struct buffer body;            /* what has come; of a stream, what has not been read yet */
    char *handed;                  /* the piece of a stream that its reader looks at */
    struct waiters changed;
};

struct transfer *transfer_new(void *owner, const struct http_request *request, bool streams);
void transfer_free(struct transfer *transfer);

/* Sets up `easy` for the request; the request is not needed afterwards. */
void transfer_prepare(struct transfer *transfer);
/* libcurl is done with it. */
void transfer_finish(struct transfer *transfer, CURLcode result);
void transfer_resume(void *arg); /* of a transfer that is paused; for loop_post */

/* `err`, which ended the wait for the response, or that there was no connection by then. */
struct err *transfer_gave_up(const struct transfer *transfer, struct err *err)
    __attribute__((warn_unused_result));
/* The complete response, moved to `ret`, or why there is none. */
struct err *transfer_result(struct transfer *transfer, struct http_response *ret)
    __attribute__((warn_unused_result));
/* Status and headers only, moved to `ret`. */
void transfer_head(struct transfer *transfer, struct http_response *ret);
/* The next piece of a stream's body; 0 bytes at its end. */
struct err *transfer_take(struct transfer *transfer, const char **ret_data, size_t *ret_length)
    __attribute__((warn_unused_result));
