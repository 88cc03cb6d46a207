#include "lib/kube/reflector.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/base/string_set.h"
#include "lib/json/lenient.h"
#include "lib/json/pick.h"
#include "lib/kube/pages.h"
#include "lib/rt/backoff.h"

/* client-go's figures (tools/cache/reflector.go), where it has any. */
enum {
    PAGE_SIZE = 500,
    WATCH_LEAST_SECONDS = 300, /* the server ends a watch after 1 to 2 times this */
    SILENCE_MS = 150 * 1000,   /* a bookmark comes every minute; without, the watch is begun anew */
    LONGEST_LINE = 4 * 1024 * 1024,
    BACKOFF_LEAST_MS = 800,
    BACKOFF_MOST_MS = 5 * 1000, /* client-go: 30 s; but a pod may be waiting for what comes */
};

struct reflector {
    struct reflector_config config;
    struct loop *loop;
    char *version;      /* up to which the store is complete; NULL: a list is due */
    bool wants_newest;  /* of lists; else what the server has at hand will do */
    unsigned page_size; /* where lists begin; 0: at the configured one */
    bool progressed;    /* the last watch has told something */
    struct buffer line; /* the beginning of an event whose end has not come */
};

static void reflector_free(struct reflector *reflector)
{
    free(reflector->version);
    buffer_fini(&reflector->line);
    free(reflector);
}
DEFINE_CLEANUP(struct reflector, reflector_free)

static void set_version(struct reflector *reflector, const char *version)
{
    if (!version)
        return;
    free(reflector->version);
    reflector->version = mem_strdup(version);
}

/* The watch cannot go on from here; only a new list helps. */
static void lose_place(struct reflector *reflector)
{
    free(TAKE_PTR(reflector->version));
    reflector->wants_newest = true;
}

static struct err *decode(const struct reflector *reflector, const json_t *json,
                          struct kube_object **ret)
{
    const struct reflector_config *config = &reflector->config;

    if (!config->keep)
        return kube_object_decode(store_resource(config->store)->type, json, ret);
    CLEANUP(json_decrefp) json_t *kept = json_pick(json, config->keep);
    return kube_object_decode(store_resource(config->store)->type, kept, ret);
}

/* What the store is to have of it. */
static struct kube_object *digest_of(const struct reflector *reflector, struct kube_object *object)
{
    const struct reflector_config *config = &reflector->config;
    CLEANUP(kube_object_unrefp) struct kube_object *whole = object;

    return config->digest ? config->digest(config->ctx, whole) : TAKE_PTR(whole);
}

/* What is known of an object that was read. */
enum reading { READ_WHOLE, READ_NAME, READ_UNWANTED };

/* The object; of one that is not wanted, or that makes no sense, which is told, only name and
 * version count; NULL if it has not even these. One such object must not keep all others from us.
 */
static struct kube_object *read_object(const struct reflector *reflector, const json_t *json,
                                       enum reading *ret)
{
    static const char *const name[] = {"metadata.name", "metadata.namespace",
                                       "metadata.resourceVersion", NULL};
    const struct reflector_config *config = &reflector->config;
    CLEANUP(json_decrefp) json_t *named = json_pick(json, name);
    struct kube_object *object = NULL;
    CLEANUP(err_freep) struct err *err = decode(reflector, json, &object);

    *ret = err ? READ_NAME : READ_WHOLE;
    if (!err && config->wanted && !config->wanted(object)) {
        *ret = READ_UNWANTED;
        return object;
    }
    if (!err)
        return digest_of(reflector, object);
    err_free(kube_object_decode(store_resource(config->store)->type, named, &object));
    if (object)
        err = err_wrap(err, "%s", object->key);
    if (config->failed)
        config->failed(config->ctx, store_resource(config->store), err);
    return object;
}

/* ---- list ---- */

/* An object of a list of that version. */
typedef void take_fn(struct reflector *reflector, struct kube_object *object, bool whole,
                     uint64_t version);

static void put_listed(struct reflector *reflector, struct kube_object *object, bool whole,
                       uint64_t version)
{
    if (whole)
        store_put_listed(reflector->config.store, object, version);
    else
        store_keep(reflector->config.store, object);
}

static void take_items(struct reflector *reflector, const json_t *list, uint64_t version,
                       take_fn *take)
{
    const json_t *items = json_object_get(list, "items");

    for (size_t i = 0; i < json_array_size(items); i++) {
        enum reading reading;
        CLEANUP(kube_object_unrefp)
        struct kube_object *object = read_object(reflector, json_array_get(items, i), &reading);

        if (object && reading != READ_UNWANTED)
            take(reflector, object, reading == READ_WHOLE, version);
    }
}

/* The newest state page by page, for what the server has at hand it gives out only as a whole,
 * which may be many megabytes. */
static const char *list_version(const struct reflector *reflector)
{
    return reflector->config.few && !reflector->wants_newest ? "0" : NULL;
}

static uint64_t number_of(const char *version)
{
    return strtoull(version, NULL, 10);
}

static struct err *read_pages(struct task *self, struct reflector *reflector, take_fn *take,
                              char **ret_version)
{
    const struct reflector_config *config = &reflector->config;
    const struct kube_query query = {
        .label_selector = config->label_selector,
        .field_selector = config->field_selector,
        .metadata_only = config->metadata_only,
        .resource_version = list_version(reflector),
        .limit = config->page_size ? config->page_size : PAGE_SIZE,
    };
    CLEANUP(kube_pages_fini) struct kube_pages pages;

    kube_pages_init(&pages, config->kube, store_resource(config->store), config->namespace_,
                    &query);
    kube_pages_adapt(&pages, &reflector->page_size);
    for (;;) {
        CLEANUP(json_decrefp) json_t *page = NULL;

        TRY(kube_pages_next(self, &pages, &page));
        if (!page)
            break;
        take_items(reflector, page, number_of(pages.version), take);
    }
    *ret_version = TAKE_PTR(pages.version);
    return NULL;
}

static struct err *read_list(struct task *self, struct reflector *reflector)
{
    CLEANUP(freep) char *version = NULL;

    store_begin_list(reflector->config.store);
    TRY(read_pages(self, reflector, put_listed, &version));
    store_end_list(reflector->config.store, number_of(version));
    set_version(reflector, version);
    reflector->wants_newest = false;
    return NULL;
}

/* ---- a list beside the reflector's own ---- */

struct catch_up {
    struct reflector reader;
    struct string_set listed; /* keys */
};

static void put_beside(struct reflector *reader, struct kube_object *object, bool whole,
                       uint64_t version)
{
    struct catch_up *catch_up = CONTAINER_OF(reader, struct catch_up, reader);

    string_set_add(&catch_up->listed, object->key);
    if (whole)
        store_put_beside(reader->config.store, object, version);
}

/* What the store has from before the list, and the list does not. */
static void forget_gone(const struct catch_up *catch_up, uint64_t version)
{
    struct store *store = catch_up->reader.config.store;
    struct kube_object *object;
    struct store_walk walk;

    store_walk_begin(&walk, store);
    while ((object = store_walk_next(&walk)))
        if (!string_set_has(&catch_up->listed, object->key) && object->version <= version)
            store_tombstone(store, object);
    store_walk_end(&walk);
}

struct err *reflector_catch_up(struct task *self, const struct reflector_config *config)
{
    struct catch_up catch_up = {.reader = {.config = *config, .wants_newest = true}};
    CLEANUP(freep) char *version = NULL;
    struct err *err = read_pages(self, &catch_up.reader, put_beside, &version);

    if (!err)
        forget_gone(&catch_up, number_of(version));
    string_set_clear(&catch_up.listed);
    return err;
}

/* ---- watch ---- */

/* Only a server that is too busy means its place in the watch to be used again. */
static struct err *take_error(struct reflector *reflector, const json_t *status)
{
    struct err *err =
        kube_status_err((int)json_integer_value(json_object_get(status, "code")), status);

    if (err_kind(err) != ERR_THROTTLED)
        lose_place(reflector);
    return err;
}

static struct err *take_event(struct reflector *reflector, const json_t *event)
{
    const char *type = json_string_value(json_object_get(event, "type"));
    const json_t *json = json_object_get(event, "object");
    const json_t *metadata = json_object_get(json, "metadata");
    struct store *store = reflector->config.store;
    enum reading reading;

    if (!type || !json_is_object(json))
        return err_new(ERR_INTERNAL, "a watch event without a type or an object");
    if (strcmp(type, "ERROR") == 0)
        return take_error(reflector, json);
    if (strcmp(type, "BOOKMARK") == 0) {
        set_version(reflector, json_string_value(json_object_get(metadata, "resourceVersion")));
        return NULL;
    }

    CLEANUP(kube_object_unrefp)
    struct kube_object *object = read_object(reflector, json, &reading);
    if (!object)
        return NULL;
    if (strcmp(type, "DELETED") == 0 || reading == READ_UNWANTED)
        store_remove(store, object);
    else if (reading == READ_WHOLE)
        store_put(store, object);
    else
        store_keep(store, object);
    set_version(reflector, json_string_value(json_object_get(metadata, "resourceVersion")));
    return NULL;
}

/* All complete lines of what has come; the rest stays for later. */
static struct err *take_lines(struct task *self, struct reflector *reflector)
{
    struct buffer *line = &reflector->line;
    size_t taken = 0;
    char *end;

    while ((end = memchr(line->data + taken, '\n', line->length - taken))) {
        CLEANUP(json_decrefp) json_t *event = NULL;
        size_t length = (size_t)(end - line->data) - taken;

        TRY(json_parse_leniently(self, line->data + taken, length, &event));
        TRY(take_event(reflector, event));
        reflector->progressed = true;
        taken += length + 1;
    }
    if (taken == line->length)
        free(buffer_take(line)); /* a burst need not keep its memory */
    else
        buffer_consume(line, taken);
    return NULL;
}

/* Until the server ends the watch, which is a success, or something breaks it. */
static struct err *follow_watch(struct task *self, struct reflector *reflector)
{
    const struct reflector_config *config = &reflector->config;
    CLEANUP(http_stream_closep) struct http_stream *stream = NULL;
    struct kube_query query = {
        .label_selector = config->label_selector,
        .field_selector = config->field_selector,
        .metadata_only = config->metadata_only,
        .resource_version = reflector->version,
        .timeout_seconds =
            WATCH_LEAST_SECONDS +
            (unsigned)random_below(loop_random(reflector->loop), WATCH_LEAST_SECONDS),
    };

    reflector->progressed = false;
    buffer_consume(&reflector->line, reflector->line.length);
    TRY(kube_watch(self, config->kube, store_resource(config->store), config->namespace_, &query,
                   &stream));
    for (;;) {
        uint64_t deadline = loop_deadline(reflector->loop, SILENCE_MS);
        const char *data;
        size_t length;

        struct err *err = stream->read(stream, self, deadline, &data, &length);
        if (err && err_kind(err) == ERR_TIMEOUT) {
            err_free(err);
            return NULL;
        }
        TRY(err);
        if (length == 0)
            return NULL;
        if (!buffer_append(&reflector->line, data, length))
            return err_new(ERR_EXHAUSTED, "a watch event is larger than %d bytes", LONGEST_LINE);
        TRY(take_lines(self, reflector));
    }
}

/* ---- for ever ---- */

/* A list, if one is due, then the watch until it ends or breaks. */
static struct err *round_trip(struct task *self, struct reflector *reflector)
{
    if (!reflector->version)
        TRY(read_list(self, reflector));
    return follow_watch(self, reflector);
}

/* From the same place, the same event would come again for ever, and from what is at hand, the same
 * list. The newest list comes in pages, so that it fits. */
static bool is_useless(const struct reflector *reflector, enum err_kind kind)
{
    return kind == ERR_OUT_OF_RANGE || kind == ERR_EXHAUSTED || kind == ERR_INVALID ||
           (kind == ERR_TIMEOUT && !reflector->version);
}

static void take_failure(struct reflector *reflector, const struct err *err)
{
    const struct reflector_config *config = &reflector->config;

    if (config->failed)
        config->failed(config->ctx, store_resource(config->store), err);
    if (is_useless(reflector, err_kind(err)))
        lose_place(reflector);
}

static void run(struct task *self, void *arg)
{
    CLEANUP(reflector_freep) struct reflector *reflector = arg;
    struct backoff backoff = {.least_ms = BACKOFF_LEAST_MS, .most_ms = BACKOFF_MOST_MS};

    while (!task_is_cancelled(self)) {
        uint64_t began = loop_now(reflector->loop), pause = 0;
        CLEANUP(err_freep) struct err *err = round_trip(self, reflector);
        uint64_t lasted = loop_now(reflector->loop) - began;

        if (err && err_kind(err) == ERR_CANCELED)
            return;
        if (err)
            take_failure(reflector, err);
        if (reflector->progressed || lasted > BACKOFF_MOST_MS)
            backoff_reset(&backoff);
        if (err || lasted < BACKOFF_LEAST_MS)
            pause = backoff_next(&backoff, loop_random(reflector->loop));
        if (err && err_retry_after_ms(err) > pause)
            pause = err_retry_after_ms(err);
        err_free(task_sleep(self, pause));
    }
}

void reflector_start(struct task_group *group, const struct reflector_config *config)
{
    struct reflector *reflector = mem_alloc(sizeof *reflector);

    *reflector = (struct reflector){.config = *config, .loop = group->loop};
    buffer_init(&reflector->line, LONGEST_LINE);
    if (!group_spawn(group, store_resource(config->store)->plural, run, reflector))
        reflector_free(reflector);
}
