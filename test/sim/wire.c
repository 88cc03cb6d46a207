#include "test/sim/wire.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"

enum { SERVE_MS = 10 * 60 * 1000, MAX_STREAM_BACKLOG = 64 * 1024 * 1024 };

struct wire {
    struct http_transport http;
    struct process *process;
    struct http_transport *server;
    const struct weather *weather;
    struct task_group under_way; /* on the world's loop */
    bool cut;
};

/* A request under way. The process's task and the world's both hold it; it goes with the second. */
struct letter {
    unsigned holders;
    struct wire *wire;
    bool is_stream;
    bool sender_gone;
    struct http_request request; /* a copy */
    struct http_header headers[HTTP_MAX_HEADERS];

    bool answered, broken;
    struct err *err;
    struct http_response response;
    bool streams, ended;    /* pieces follow; no more do */
    struct task *forwarder; /* of the pieces; NULL: not at it */
    struct buffer pieces;
    char *taken; /* what the reader has been given */
    struct waiters waiters;
};

struct wire_stream {
    struct http_stream stream;
    struct letter *letter;
};

/* ---- letters ---- */

static struct letter *letter_new(struct wire *wire, const struct http_request *request, bool stream)
{
    struct letter *letter = mem_alloc(sizeof *letter);

    letter->holders = 1;
    letter->wire = wire;
    letter->is_stream = stream;
    letter->request = *request;
    letter->request.method = mem_strdup(request->method ? request->method : "GET");
    letter->request.url = mem_strdup(request->url);
    letter->request.body = request->body ? mem_strndup(request->body, request->body_length) : NULL;
    letter->request.headers = letter->headers;
    for (size_t i = 0; i < request->n_headers; i++)
        letter->headers[i] = (struct http_header){mem_strdup(request->headers[i].name),
                                                  mem_strdup(request->headers[i].value)};
    letter->request.may_send = NULL;
    waiters_init(&letter->waiters);
    buffer_init(&letter->pieces, MAX_STREAM_BACKLOG);
    return letter;
}

static void free_text(const char *text)
{
    free((char *)(uintptr_t)text);
}

static void letter_let_go(struct letter *letter)
{
    if (--letter->holders > 0)
        return;
    free_text(letter->request.method);
    free_text(letter->request.url);
    free_text(letter->request.body);
    for (size_t i = 0; i < letter->request.n_headers; i++) {
        free_text(letter->headers[i].name);
        free_text(letter->headers[i].value);
    }
    err_free(letter->err);
    http_response_fini(&letter->response);
    buffer_fini(&letter->pieces);
    free(letter->taken);
    free(letter);
}

/* ---- on the world's side ---- */

static bool strikes(struct wire *wire, unsigned chance)
{
    return chance && random_below(loop_random(wire->process->clockwork->world), 10000) < chance;
}

static struct err *travel(struct task *self, const struct wire *wire, uint64_t more_ms)
{
    uint64_t range = wire->weather->most_ms - wire->weather->least_ms + 1 + more_ms;

    return task_sleep(self,
                      wire->weather->least_ms + random_below(loop_random(loop_of(self)), range));
}

static void answer(struct letter *letter, struct err *err)
{
    letter->err = err;
    letter->answered = true;
    waiters_wake(&letter->waiters);
}

static struct err *connection_lost(const struct letter *letter, const char *how)
{
    return err_new(ERR_UNAVAILABLE, "%s: %s", letter->request.url, how);
}

static void deliver(struct letter *letter, const char *data, size_t length)
{
    if (letter->wire->cut || letter->sender_gone)
        return;
    letter->broken |= !buffer_append(&letter->pieces, data, length);
    letter->ended |= letter->broken;
    waiters_wake(&letter->waiters);
}

/* The pieces of a stream, each on its way for a while, none before another. */
static void forward(struct task *self, struct letter *letter, struct http_stream *inner)
{
    struct wire *wire = letter->wire;
    struct err *err = NULL;

    letter->forwarder = self;
    while (!err && !letter->sender_gone && !wire->cut) {
        const char *data;
        size_t length;

        err = inner->read(inner, self, TIMER_NEVER, &data, &length);
        if (err || length == 0)
            break;
        CLEANUP(freep) char *copy = mem_strndup(data, length);
        if (wire->weather->away || strikes(wire, wire->weather->break_stream)) {
            letter->broken = true;
            break;
        }
        err = travel(self, wire, wire->weather->stream_delay_ms);
        deliver(letter, copy, length);
    }
    letter->forwarder = NULL;
    letter->broken |= err != NULL;
    err_free(err);
    letter->ended = true;
    waiters_wake(&letter->waiters);
}

static struct err *ask(struct task *self, struct letter *letter, struct http_stream **ret_stream)
{
    struct http_transport *server = letter->wire->server;

    letter->request.deadline = loop_deadline(loop_of(self), SERVE_MS);
    return letter->is_stream
               ? server->open(server, self, &letter->request, &letter->response, ret_stream)
               : http_exchange(self, server, &letter->request, &letter->response);
}

static void carry(struct task *self, struct letter *letter)
{
    struct wire *wire = letter->wire;
    const struct weather *weather = wire->weather;
    CLEANUP(http_stream_closep) struct http_stream *stream = NULL;
    struct err *err = travel(self, wire, 0);

    if (!err && (weather->away || strikes(wire, weather->refuse))) {
        answer(letter, err_as(connection_lost(letter, "connection refused"), ERR_NOT_SENT));
        return;
    }
    if (err || strikes(wire, weather->lose_request)) {
        err_free(err);
        return;
    }
    err = ask(self, letter, &stream);
    if (strikes(wire, weather->lose_answer)) {
        err_free(err);
        return;
    }
    err_free(travel(self, wire, 0));
    if (wire->cut) {
        err_free(err);
        return;
    }
    if (!err && (weather->away || strikes(wire, weather->break_answer)))
        err = connection_lost(letter, "connection reset");
    letter->streams = !err && stream;
    answer(letter, err);
    if (letter->streams)
        forward(self, letter, stream);
}

static void carry_and_let_go(struct task *self, void *arg)
{
    struct letter *letter = arg;

    carry(self, letter);
    letter_let_go(letter);
}

/* ---- on the process's side ---- */

/* Until the answer is there; the letter goes on without us if we cannot wait for it. */
static struct err *send_letter(struct task *self, struct letter *letter,
                               const struct http_request *request)
{
    struct wire *wire = letter->wire;
    struct err *err = NULL;

    if (request->may_send && !request->may_send(request->may_send_ctx))
        return err_new(ERR_CANCELED, "%s: not sent", request->url);
    if (wire->cut)
        return connection_lost(letter, "cut off");
    letter->holders++;
    if (!group_spawn(&wire->under_way, "request", carry_and_let_go, letter)) {
        letter->holders--;
        return connection_lost(letter, "cut off");
    }
    while (!err && !letter->answered && !wire->cut)
        err = wait_for_change(self, &letter->waiters, request->deadline);
    if (err)
        return err;
    return letter->answered ? TAKE_PTR(letter->err) : connection_lost(letter, "cut off");
}

static void take_response(struct letter *letter, struct http_response *ret)
{
    *ret = letter->response;
    letter->response = (struct http_response){0};
}

static struct err *exchange(struct http_transport *http, struct task *self,
                            const struct http_request *request, struct http_response *ret)
{
    struct letter *letter = letter_new(CONTAINER_OF(http, struct wire, http), request, false);
    struct err *err = send_letter(self, letter, request);

    if (!err)
        take_response(letter, ret);
    letter->sender_gone = true;
    letter_let_go(letter);
    return err;
}

static struct err *stream_read(struct http_stream *stream, struct task *self, uint64_t deadline,
                               const char **ret_data, size_t *ret_length)
{
    struct letter *letter = CONTAINER_OF(stream, struct wire_stream, stream)->letter;

    while (letter->pieces.length == 0 && !letter->ended && !letter->wire->cut)
        TRY(wait_for_change(self, &letter->waiters, deadline));
    if (letter->pieces.length == 0 && (letter->broken || letter->wire->cut))
        return connection_lost(letter, "connection reset");
    free(letter->taken);
    *ret_length = letter->pieces.length;
    *ret_data = letter->taken = buffer_take(&letter->pieces);
    buffer_init(&letter->pieces, MAX_STREAM_BACKLOG);
    return NULL;
}

static void stream_close(struct http_stream *stream)
{
    struct wire_stream *self = CONTAINER_OF(stream, struct wire_stream, stream);

    self->letter->sender_gone = true;
    if (self->letter->forwarder)
        task_cancel(self->letter->forwarder);
    letter_let_go(self->letter);
    free(self);
}

static struct err *open_stream(struct http_transport *http, struct task *self,
                               const struct http_request *request,
                               struct http_response *ret_response, struct http_stream **ret_stream)
{
    struct letter *letter = letter_new(CONTAINER_OF(http, struct wire, http), request, true);
    struct err *err = send_letter(self, letter, request);

    *ret_stream = NULL;
    if (!err)
        take_response(letter, ret_response);
    if (!err && letter->streams) {
        struct wire_stream *stream = mem_alloc(sizeof *stream);

        stream->stream = (struct http_stream){.read = stream_read, .close = stream_close};
        stream->letter = letter;
        *ret_stream = &stream->stream;
        return NULL;
    }
    letter->sender_gone = true;
    letter_let_go(letter);
    return err;
}

struct wire *wire_new(struct process *process, struct http_transport *server,
                      const struct weather *weather)
{
    struct wire *wire = mem_alloc(sizeof *wire);

    *wire = (struct wire){
        .http = {.exchange = exchange, .open = open_stream},
        .process = process,
        .server = server,
        .weather = weather,
    };
    group_init(&wire->under_way, process->clockwork->world);
    return wire;
}

struct http_transport *wire_http(struct wire *wire)
{
    return &wire->http;
}

void wire_cut(struct wire *wire)
{
    wire->cut = true;
}

void wire_close(struct task *self, struct wire *wire)
{
    group_close(self, &wire->under_way);
    free(wire);
}
