#include "azdiskctl/log_follow.h"

#include "azdiskctl/document.h"
#include "azdiskctl/interrupt.h"
#include "azdiskctl/log_streams.h"
#include "lib/base/alloc.h"
#include "lib/rt/backoff.h"

enum {
    TICK_MS = 500,
    LOOK_LEAST_MS = 2000, /* between two looks at the pods, */
    LOOK_SHARE = 20,      /* which take a part of the time: those of each node may be thousands */
    BACKOFF_MOST_MS = 10 * 1000,
};

struct follow {
    const struct logs_config *config;
    struct log_subject subject;
    struct log_printer printer;
    struct log_streams streams;
    uint64_t look_due;
    struct backoff backoff; /* of looks that fail */
};

/* ---- what is there at first ---- */

static struct err *check_number(const json_t *sources)
{
    size_t i, running = 0;
    const json_t *source;

    json_array_foreach(sources, i, source)
        running += json_is_true(json_object_get(source, "running"));
    return running <= MOST_LOG_STREAMS
               ? NULL
               : err_new(ERR_EXHAUSTED,
                         "%zu containers would have to be followed, and %d is the most: choose one "
                         "of the nodes by --node",
                         running, MOST_LOG_STREAMS);
}

static void tell_unread(struct follow *follow, const json_t *document)
{
    const json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(document, "unread"), i, entry)
        log_streams_tell(&follow->streams, entry, text_of(entry, "error"));
}

static void print_what_is_there(struct task *self, struct follow *follow, const json_t *sources)
{
    CLEANUP(freep)
    struct log_extent *extents = mem_alloc((json_array_size(sources) + 1) * sizeof *extents);
    CLEANUP(json_decrefp)
    json_t *document = logs_read(self, follow->config, follow->streams.token, sources,
                                 &follow->subject.names, extents);
    const json_t *source;
    size_t i;

    json_array_foreach(sources, i, source)
        log_streams_were_read(&follow->streams, source, &extents[i]);
    log_printer_print(&follow->printer, json_object_get(document, "lines"));
    tell_unread(follow, document);
}

/* ---- what comes ---- */

static struct err *look(struct task *self, struct follow *follow)
{
    CLEANUP(json_decrefp) json_t *sources = NULL;

    TRY(log_subject_look_again(self, follow->config, &follow->subject));
    TRY(log_subject_sources(self, follow->config, &follow->subject, &sources));
    log_streams_set(&follow->streams, sources);
    return NULL;
}

/* That it fails is said once, until it has succeeded again. */
static struct err *look_if_due(struct task *self, struct follow *follow)
{
    struct loop *loop = loop_of(self);
    uint64_t began = loop_now(loop), pause;

    if (began < follow->look_due)
        return NULL;
    CLEANUP(err_freep) struct err *err = look(self, follow);
    if (err && err_kind(err) == ERR_CANCELED)
        return TAKE_PTR(err);
    if (err && follow->backoff.attempts == 0)
        log_streams_tell(&follow->streams, NULL, err_message(err));
    pause = LOOK_SHARE * (loop_now(loop) - began);
    if (err)
        pause = backoff_next(&follow->backoff, loop_random(loop));
    else
        backoff_reset(&follow->backoff);
    follow->look_due = loop_deadline(loop, pause > LOOK_LEAST_MS ? pause : LOOK_LEAST_MS);
    return NULL;
}

static struct err *wait_a_bit(struct task *self, struct follow *follow)
{
    struct err *err =
        wait_for_change(self, &follow->streams.group.ended, loop_deadline(loop_of(self), TICK_MS));

    if (err && err_kind(err) != ERR_TIMEOUT)
        return err;
    err_free(err);
    return NULL;
}

static struct err *work(struct task *self, void *ctx)
{
    struct follow *follow = ctx;
    CLEANUP(json_decrefp) json_t *sources = NULL;

    TRY(log_subject_find(self, follow->config, &follow->subject));
    TRY(log_subject_sources(self, follow->config, &follow->subject, &sources));
    TRY(check_number(sources));
    log_streams_set(&follow->streams, sources);
    print_what_is_there(self, follow, sources);
    while (!log_printer_is_closed(&follow->printer)) {
        TRY(look_if_due(self, follow));
        log_streams_open(&follow->streams);
        TRY(wait_a_bit(self, follow));
    }
    return log_printer_error(&follow->printer);
}

struct err *logs_follow(struct task *self, const struct logs_config *config, enum output output,
                        bool *ret_complete)
{
    struct loop *loop = loop_of(self);
    struct follow follow = {
        .config = config,
        .printer = {.out = stdout, .output = output},
        .streams = {.config = config,
                    .names = &follow.subject.names,
                    .token = bearer_token_new(loop, &config->connection->config),
                    .printer = &follow.printer,
                    .loop = loop,
                    .begun = loop_now(loop)},
        .backoff = {.least_ms = LOOK_LEAST_MS, .most_ms = BACKOFF_MOST_MS},
    };

    group_init(&follow.streams.group, loop);
    struct err *err = run_interruptible(self, work, &follow);
    log_streams_close(self, &follow.streams);
    bearer_token_unref(follow.streams.token);
    log_subject_fini(&follow.subject);
    *ret_complete = !follow.streams.incomplete;
    if (err && err_kind(err) == ERR_CANCELED) {
        err_free(err);
        return NULL;
    }
    return err;
}
