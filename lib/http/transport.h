/* transport.h - the seam below every API client: a request goes down, a response comes back.
 *
 * Clients of Kubernetes and Azure are written against this struct. The real implementation is
 * lib/http/client.h; a simulation answers in the same process, and tests lose, delay and repeat
 * answers here. An error means that no complete answer arrived, so that whether the request took
 * effect is unknown, unless it is NOT_SENT: then it did not. Any status, 500 included, is a success
 * at this level.
 *
 * Both calls yield and are for the loop's thread.
 */
#pragma once

#include "lib/base/err.h"
#include "lib/http/message.h"
#include "lib/rt/task.h"

struct http_stream;

struct http_transport {
    /* The whole exchange. TIMEOUT at the request's deadline, CANCELED, UNAVAILABLE if the
     * connection failed, NOT_SENT if either was before anything could be sent, EXHAUSTED if the
     * body is larger than the request allows. */
    struct err *(*exchange)(struct http_transport *transport, struct task *self,
                            const struct http_request *request, struct http_response *ret);

    /* A response whose body arrives piece by piece, for watches. `ret_response` has the status and
     * headers; for a status other than 200 also the whole body, and no stream is returned. The
     * request's deadline is that of the headers. */
    struct err *(*open)(struct http_transport *transport, struct task *self,
                        const struct http_request *request, struct http_response *ret_response,
                        struct http_stream **ret_stream);
};

/* What an implementation of streams provides; `struct http_stream` begins with it. */
struct http_stream {
    /* The next bytes, valid until the next call; 0 bytes at the end of the body. After TIMEOUT the
     * stream goes on; UNAVAILABLE if the connection broke, after what had come before. */
    struct err *(*read)(struct http_stream *stream, struct task *self, uint64_t deadline,
                        const char **ret_data, size_t *ret_length);
    /* Ends the response, wherever it is; does not yield. */
    void (*close)(struct http_stream *stream);
};

/* Whoever was cancelled while something else kept it waiting sends nothing any more. */
static inline struct err *http_exchange(struct task *self, struct http_transport *transport,
                                        const struct http_request *request,
                                        struct http_response *ret)
{
    if (task_is_cancelled(self))
        return err_new(ERR_CANCELED, "%s: not sent", request->url);
    return transport->exchange(transport, self, request, ret);
}

static inline void http_stream_close(struct http_stream *stream)
{
    if (stream)
        stream->close(stream);
}
DEFINE_CLEANUP(struct http_stream, http_stream_close)
