/* message.h - HTTP requests and responses as plain data.
 *
 * Whoever makes a request keeps what it points to until the call returns. A response owns its
 * memory and is released by http_response_fini.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/cleanup.h"

struct http_header {
    const char *name, *value;
};

struct http_request {
    const char *method; /* "GET" if NULL */
    const char *url;
    const struct http_header *headers;
    size_t n_headers;
    const char *body; /* NULL: none */
    size_t body_length;
    bool changes_nothing; /* although it is not a GET */
    bool urgent;          /* does not wait for one of the limited connections, nor take one */
    uint64_t deadline;    /* loop_now() time; TIMER_NEVER only for streams */
    size_t max_response;  /* most bytes of a response's body; 0: HTTP_DEFAULT_MAX_RESPONSE */

    /* Asked when the connection is there and the request would go out; false makes it CANCELED.
     * NULL: it always may. */
    bool (*may_send)(void *ctx);
    void *may_send_ctx;
};

enum { HTTP_DEFAULT_MAX_RESPONSE = 16 * 1024 * 1024, HTTP_MAX_HEADERS = 64 };

struct http_response {
    int status;
    struct http_header *headers; /* name and value are owned */
    size_t n_headers;
    char *body; /* ends in a NUL that is not counted; never NULL */
    size_t body_length;
};

void http_response_fini(struct http_response *response);

static inline void http_response_finip(struct http_response *response)
{
    http_response_fini(response);
}

/* The value of a header, whatever the case of its name; NULL if it is not there. */
const char *http_header_find(const struct http_header *headers, size_t n, const char *name);

/* `text` with everything but unreserved characters as %XX, for a part of a URL. */
char *http_escape(const char *text) __attribute__((warn_unused_result));
