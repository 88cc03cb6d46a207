#include "test/sim/network_link.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"

enum { SERVE_MS = 10 * 60 * 1000, MAX_STREAM_BACKLOG = 64 * 1024 * 1024 };

struct network_link {
    struct http_transport http;
    struct process *process;
    struct http_transport *server;
    const struct network_conditions *conditions;
    struct task_group under_way; /* on the world's loop */
    bool cut;
};

/* A request under way. The process's task and the world's both hold it; it goes with the second. */
struct letter {
    unsigned holders;
    struct network_link *link;
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

struct link_stream {
    struct http_stream stream;
    struct letter *letter;
};

/* ---- letters ---- */

static struct letter *letter_new(struct network_link *link, const struct http_request *request,
                                 bool stream)
{
    struct letter *letter = mem_alloc(sizeof *letter);

    letter->holders = 1;
    letter->link = link;
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

static bool strikes(struct network_link *link, unsigned chance)
{
    return chance && random_below(loop_random(link->process->clockwork->world), 10000) < chance;
}

static struct err *travel(struct task *self, const struct network_link *link, uint64_t more_ms)
{
    uint64_t range = link->conditions->most_ms - link->conditions->least_ms + 1 + more_ms;

    return task_sleep(self,
                      link->conditions->least_ms + random_below(loop_random(loop_of(self)), range));
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
    if (letter->link->cut || letter->sender_gone)
        return;
    letter->broken |= !buffer_append(&letter->pieces, data, length);
    letter->ended |= letter->broken;
    waiters_wake(&letter->waiters);
}

/* The pieces of a stream, each on its way for a while, none before another. */
static void forward(struct task *self, struct letter *letter, struct http_stream *inner)
{
    struct network_link *link = letter->link;
    struct err *err = NULL;

    letter->forwarder = self;
    while (!err && !letter->sender_gone && !link->cut) {
        const char *data;
        size_t length;

        err = inner->read(inner, self, TIMER_NEVER, &data, &length);
        if (err || length == 0)
            break;
        CLEANUP(freep) char *copy = mem_strndup(data, length);
        if (link->conditions->away || strikes(link, link->conditions->break_stream)) {
            letter->broken = true;
            break;
        }
        err = travel(self, link, link->conditions->stream_delay_ms);
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
    struct http_transport *server = letter->link->server;

    letter->request.deadline = loop_deadline(loop_of(self), SERVE_MS);
    return letter->is_stream
               ? server->open(server, self, &letter->request, &letter->response, ret_stream)
               : http_exchange(self, server, &letter->request, &letter->response);
}

static void carry(struct task *self, struct letter *letter)
{
    struct network_link *link = letter->link;
    const struct network_conditions *conditions = link->conditions;
    CLEANUP(http_stream_closep) struct http_stream *stream = NULL;
    struct err *err = travel(self, link, 0);

    if (!err && (conditions->away || strikes(link, conditions->refuse))) {
        answer(letter, err_as(connection_lost(letter, "connection refused"), ERR_NOT_SENT));
        return;
    }
    if (err || strikes(link, conditions->lose_request)) {
        err_free(err);
        return;
    }
    err = ask(self, letter, &stream);
    if (strikes(link, conditions->lose_answer)) {
        err_free(err);
        return;
    }
    err_free(travel(self, link, 0));
    if (link->cut) {
        err_free(err);
        return;
    }
    if (!err && (conditions->away || strikes(link, conditions->break_answer)))
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
    struct network_link *link = letter->link;
    struct err *err = NULL;

    if (request->may_send && !request->may_send(request->may_send_ctx))
        return err_new(ERR_CANCELED, "%s: not sent", request->url);
    if (link->cut)
        return connection_lost(letter, "cut off");
    letter->holders++;
    if (!group_spawn(&link->under_way, "request", carry_and_let_go, letter)) {
        letter->holders--;
        return connection_lost(letter, "cut off");
    }
    while (!err && !letter->answered && !link->cut)
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
    struct letter *letter =
        letter_new(CONTAINER_OF(http, struct network_link, http), request, false);
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
    struct letter *letter = CONTAINER_OF(stream, struct link_stream, stream)->letter;

    while (letter->pieces.length == 0 && !letter->ended && !letter->link->cut)
        TRY(wait_for_change(self, &letter->waiters, deadline));
    if (letter->pieces.length == 0 && (letter->broken || letter->link->cut))
        return connection_lost(letter, "connection reset");
    free(letter->taken);
    *ret_length = letter->pieces.length;
    *ret_data = letter->taken = buffer_take(&letter->pieces);
    buffer_init(&letter->pieces, MAX_STREAM_BACKLOG);
    return NULL;
}

static void stream_close(struct http_stream *stream)
{
    struct link_stream *self = CONTAINER_OF(stream, struct link_stream, stream);

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
    struct letter *letter =
        letter_new(CONTAINER_OF(http, struct network_link, http), request, true);
    struct err *err = send_letter(self, letter, request);

    *ret_stream = NULL;
    if (!err)
        take_response(letter, ret_response);
    if (!err && letter->streams) {
        struct link_stream *stream = mem_alloc(sizeof *stream);

        stream->stream = (struct http_stream){.read = stream_read, .close = stream_close};
        stream->letter = letter;
        *ret_stream = &stream->stream;
        return NULL;
    }
    letter->sender_gone = true;
    letter_let_go(letter);
    return err;
}

struct network_link *network_link_new(struct process *process, struct http_transport *server,
                                      const struct network_conditions *conditions)
{
    struct network_link *link = mem_alloc(sizeof *link);

    *link = (struct network_link){
        .http = {.exchange = exchange, .open = open_stream},
        .process = process,
        .server = server,
        .conditions = conditions,
    };
    group_init(&link->under_way, process->clockwork->world);
    return link;
}

struct http_transport *network_link_http(struct network_link *link)
{
    return &link->http;
}

void network_link_cut(struct network_link *link)
{
    link->cut = true;
}

void network_link_close(struct task *self, struct network_link *link)
{
    group_close(self, &link->under_way);
    free(link);
}
