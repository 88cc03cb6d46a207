#include "lib/http/reply_stream.h"

#include <string.h>

enum { PIECES = 20, BLOCK_SIZE = 16 * 1024 };

/* ---- pauses, on the loop ---- */

static void on_pause_over(void *ctx)
{
    struct reply_stream *stream = ctx;
    void (*pause_over)(void *) = stream->pause_over;
    void *server = stream->server;

    stream->rested = true;
    MHD_resume_connection(stream->connection); /* the request may be gone from here on */
    pause_over(server);
}

static void begin_pause(void *ctx)
{
    struct reply_stream *stream = ctx;

    loop_start_timer(stream->loop, &stream->timer,
                     loop_deadline(stream->loop, stream->reply->send_ms / PIECES), on_pause_over,
                     stream);
}

/* ---- on libmicrohttpd's thread ---- */

static ssize_t send_block(const struct http_reply *reply, uint64_t from, size_t to, char *block,
                          size_t room)
{
    size_t length = to - from < room ? to - from : room;

    memcpy(block, reply->body + from, length);
    return (ssize_t)length;
}

static ssize_t read_cut(void *ctx, uint64_t position, char *block, size_t room)
{
    const struct http_reply *reply = ((struct reply_stream *)ctx)->reply;
    size_t half = reply->body_length / 2;

    return position < half ? send_block(reply, position, half, block, room)
                           : MHD_CONTENT_READER_END_WITH_ERROR;
}

static ssize_t read_chunked(void *ctx, uint64_t position, char *block, size_t room)
{
    const struct http_reply *reply = ((struct reply_stream *)ctx)->reply;

    return position < reply->body_length
               ? send_block(reply, position, reply->body_length, block, room)
               : MHD_CONTENT_READER_END_OF_STREAM;
}

/* A piece, a pause, a piece; the last one has no pause behind it. */
static ssize_t read_slowly(void *ctx, uint64_t position, char *block, size_t room)
{
    struct reply_stream *stream = ctx;
    const struct http_reply *reply = stream->reply;
    size_t piece = reply->body_length / PIECES + 1;
    size_t to = position + piece < reply->body_length ? position + piece : reply->body_length;

    if (!stream->rested && position > 0) {
        if (!stream->may_pause(stream->server))
            return MHD_CONTENT_READER_END_WITH_ERROR;
        MHD_suspend_connection(stream->connection);
        loop_post(stream->loop, begin_pause, stream);
        return 0;
    }
    stream->rested = false;
    return send_block(reply, position, to, block, room);
}

struct MHD_Response *reply_stream_response(struct reply_stream *stream)
{
    static const MHD_ContentReaderCallback readers[] = {
        [HTTP_SEND_CUT] = read_cut,
        [HTTP_SEND_CHUNKED] = read_chunked,
        [HTTP_SEND_SLOWLY] = read_slowly,
    };
    const struct http_reply *reply = stream->reply;
    bool unknown = reply->send_mode == HTTP_SEND_CHUNKED;

    return MHD_create_response_from_callback(unknown ? MHD_SIZE_UNKNOWN : reply->body_length,
                                             BLOCK_SIZE, readers[reply->send_mode], stream, NULL);
}
