/* reply_stream.h - replies that are sent otherwise than whole and at once; for server.c only.
 */
#pragma once

#include <microhttpd.h>

#include "lib/http/server.h"

/* One such reply on its way; part of its request, and gone with it. */
struct reply_stream {
    struct loop *loop;
    struct MHD_Connection *connection;
    const struct http_reply *reply;
    void *server;
    bool (*may_pause)(void *server);  /* counts the pause; false: no more of them */
    void (*pause_over)(void *server); /* counts it down again */
    struct timer timer;
    bool rested; /* the next piece may go */
};

/* libmicrohttpd's thread. */
struct MHD_Response *reply_stream_response(struct reply_stream *stream);
