#include "azdiskctl/log_streams.h"

#include <stdlib.h>

#include "azdiskctl/document.h"
#include "azdiskctl/pod_log.h"
#include "azdiskctl/printable.h"
#include "azdiskctl/whole_lines.h"
#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "lib/rt/backoff.h"

enum {
    LONGEST_LINE = 256 * 1024,
    LONGEST_READ_MS = 2 * 60 * 1000, /* of what a container had to say that is gone */
    BACKOFF_LEAST_MS = 500,
    BACKOFF_MOST_MS = 10 * 1000,
    TOLD_AFTER = 3, /* failures: an API server that restarts is not worth a line */
};

struct log_stream {
    struct log_streams *all;
    json_t *source;
    struct log_cursor cursor;
    uint64_t since_ms; /* as long as the cursor is nowhere: before the command began; 0: all */
    struct backoff backoff;
    uint64_t due;
    bool listed; /* its pod is there */
    bool open;
    bool told;      /* that it cannot be read */
    char *ended_id; /* of the container whose log was read to its end */
};

/* What has come in one piece. */
struct arrival {
    struct log_stream *stream;
    const json_t *source;
    struct log_lines lines;
};

/* ---- what is said ---- */

void log_streams_tell(struct log_streams *streams, const json_t *source, const char *why)
{
    CLEANUP(freep)
    char *text =
        source ? mem_printf("%s %s: %s", text_of(source, "pod"), text_of(source, "container"), why)
               : mem_strdup(why);
    CLEANUP(freep) char *printable = printable_text(text);

    fprintf(stderr, "incomplete: %s\n", printable);
    streams->incomplete = true;
}

static void tell(struct log_stream *stream, const char *why)
{
    if (!stream->told)
        log_streams_tell(stream->all, stream->source, why);
    stream->told = true;
}

/* ---- one log, from its opening to its end ---- */

static void add_line(void *ctx, const char *line, size_t length)
{
    struct arrival *arrival = ctx;

    log_lines_add(&arrival->lines, arrival->source, line, length, arrival->stream->all->names,
                  &arrival->stream->cursor);
}

static void print_arrival(struct arrival *arrival)
{
    struct log_stream *stream = arrival->stream;
    struct log_streams *streams = stream->all;
    CLEANUP(json_decrefp) json_t *lines = log_lines_json(&arrival->lines);

    log_printer_print(streams->printer, lines);
    log_lines_fini(&arrival->lines);
    if (!stream->cursor.is_behind) {
        backoff_reset(&stream->backoff);
        stream->told = false;
    }
    if (streams->printer->error)
        waiters_wake(&streams->group.ended);
}

static struct err *read_on(struct task *self, struct http_stream *http, uint64_t deadline,
                           struct arrival *arrival, struct whole_lines *lines)
{
    const char *data;
    size_t length;

    for (;;) {
        TRY(http->read(http, self, deadline, &data, &length));
        if (length)
            whole_lines_add(lines, data, length, add_line, arrival);
        else
            whole_lines_end(lines, add_line, arrival);
        print_arrival(arrival);
        if (!length)
            return NULL;
    }
}

/* From its cursor to the end. */
static struct err *read_log(struct task *self, struct log_stream *stream, const json_t *source,
                            bool previous)
{
    const struct log_streams *streams = stream->all;
    uint64_t elapsed = loop_now(streams->loop) - streams->begun;
    const struct log_cursor *cursor = &stream->cursor;
    const struct pod_log log = {
        .namespace_ = text_of(source, "namespace"),
        .pod = text_of(source, "pod"),
        .container = text_of(source, "container"),
        .previous = previous,
        .timestamps = true,
        .follow = !previous,
        .since_us = cursor->us,
        .since_ms = cursor->us || !stream->since_ms ? 0 : stream->since_ms + elapsed,
    };
    CLEANUP(http_stream_closep) struct http_stream *http = NULL;
    CLEANUP(whole_lines_fini) struct whole_lines lines;
    struct arrival arrival = {.stream = stream, .source = source};

    whole_lines_init(&lines, LONGEST_LINE);
    log_cursor_reopen(&stream->cursor);
    TRY(pod_log_open(self, streams->config->connection, streams->token, &log, &http));
    uint64_t deadline = previous ? loop_deadline(streams->loop, LONGEST_READ_MS) : TIMER_NEVER;
    return read_on(self, http, deadline, &arrival, &lines);
}

/* Nobody says when a container was restarted, and most were not: the server refuses that. */
static struct err *read_previous(struct task *self, struct log_stream *stream, const json_t *source)
{
    CLEANUP(json_decrefp) json_t *before = json_deep_copy(source);

    json_object_set_new(before, "previous", json_true());
    struct err *err = read_log(self, stream, before, true);
    if (!err || err_kind(err) != ERR_INVALID)
        return err;
    err_free(err);
    return NULL;
}

static struct err *read_both(struct task *self, struct log_stream *stream, const json_t *source)
{
    TRY(read_previous(self, stream, source));
    TRY(read_log(self, stream, source, false));
    free(stream->ended_id);
    stream->ended_id = mem_strdup(text_of(source, "id"));
    return NULL;
}

static void settle(struct log_stream *stream, const struct err *err)
{
    struct loop *loop = stream->all->loop;
    uint64_t pause = backoff_next(&stream->backoff, loop_random(loop));

    if (err && err_retry_after_ms(err) > pause)
        pause = err_retry_after_ms(err);
    stream->due = loop_deadline(loop, pause);
    /* A pod that has just gone ends without a word. */
    if (err && err_kind(err) != ERR_CANCELED && err_kind(err) != ERR_NOT_FOUND &&
        stream->backoff.attempts >= TOLD_AFTER)
        tell(stream, err_message(err));
}

static void read_stream(struct task *self, void *arg)
{
    struct log_stream *stream = arg;
    struct log_streams *streams = stream->all;
    uint64_t opened = loop_now(streams->loop);
    CLEANUP(json_decrefp) json_t *source = json_incref(stream->source);
    CLEANUP(err_freep) struct err *err = read_both(self, stream, source);

    if (loop_now(streams->loop) - opened > BACKOFF_MOST_MS)
        backoff_reset(&stream->backoff);
    settle(stream, err);
    stream->open = false;
    streams->n_open--;
}

/* ---- all of them ---- */

static struct log_stream *find(const struct log_streams *streams, const json_t *source)
{
    static const char *const names[] = {"namespace", "pod", "container"};

    for (size_t i = 0; i < streams->n; i++) {
        const json_t *known = streams->items[i]->source;
        bool same = true;

        for (size_t j = 0; j < COUNT_OF(names); j++)
            same &= same_text(text_of(known, names[j]), text_of(source, names[j]));
        if (same)
            return streams->items[i];
    }
    return NULL;
}

static struct log_stream *add(struct log_streams *streams)
{
    struct log_stream *stream = mem_alloc(sizeof *stream);

    *stream = (struct log_stream){
        .all = streams,
        .since_ms = streams->config->since_ms,
        .backoff = {.least_ms = BACKOFF_LEAST_MS, .most_ms = BACKOFF_MOST_MS},
    };
    ARRAY_ADD(streams->items, streams->n) = stream;
    return stream;
}

static void stream_free(struct log_stream *stream)
{
    json_decref(stream->source);
    free(stream->ended_id);
    free(stream);
}

/* What an open one has still to say is waited for. */
static void forget_gone(struct log_streams *streams)
{
    size_t kept = 0;

    for (size_t i = 0; i < streams->n; i++) {
        struct log_stream *stream = streams->items[i];

        if (stream->listed || stream->open)
            streams->items[kept++] = stream;
        else
            stream_free(stream);
    }
    streams->n = kept;
}

void log_streams_set(struct log_streams *streams, const json_t *sources)
{
    json_t *source;
    size_t i;

    for (i = 0; i < streams->n; i++)
        streams->items[i]->listed = false;
    json_array_foreach(sources, i, source) {
        struct log_stream *stream = find(streams, source);

        if (json_is_true(json_object_get(source, "previous")))
            continue;
        if (!stream)
            stream = add(streams);
        json_decref(stream->source);
        stream->source = json_incref(source);
        stream->listed = true;
        log_printer_widen(streams->printer, source);
    }
    forget_gone(streams);
}

void log_streams_were_read(struct log_streams *streams, const json_t *source,
                           const struct log_extent *extent)
{
    struct log_stream *stream = find(streams, source);

    if (!stream)
        return;
    log_cursor_advance(&stream->cursor, &extent->cursor);
    if (json_is_true(json_object_get(source, "previous")))
        return;
    stream->told = extent->failed || extent->left_out;
    if (extent->left_out)
        stream->since_ms = 1;
    if (!stream->told)
        stream->ended_id = mem_strdup(text_of(source, "id"));
}

static bool is_due(const struct log_stream *stream)
{
    return stream->listed && !stream->open && loop_now(stream->all->loop) >= stream->due &&
           (json_is_true(json_object_get(stream->source, "running")) ||
            !same_text(text_of(stream->source, "id"), stream->ended_id));
}

void log_streams_open(struct log_streams *streams)
{
    for (size_t i = 0; i < streams->n; i++) {
        struct log_stream *stream = streams->items[i];

        if (!is_due(stream))
            continue;
        if (streams->n_open == MOST_LOG_STREAMS) {
            tell(stream, "too many others are followed; choose a node by --node");
            continue;
        }
        stream->open = group_spawn(&streams->group, "log", read_stream, stream);
        streams->n_open += stream->open;
    }
}

void log_streams_close(struct task *self, struct log_streams *streams)
{
    group_close(self, &streams->group);
    for (size_t i = 0; i < streams->n; i++)
        stream_free(streams->items[i]);
    free(streams->items);
}
