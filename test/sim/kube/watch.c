#include "test/sim/kube/watch.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "test/sim/kube/answer.h"
#include "test/sim/kube/metadata.h"
#include "test/sim/kube/page.h"
#include "test/sim/kube/selector.h"

enum {
    LEAST_TIMEOUT_S = 1800,  /* kube-apiserver's --min-request-timeout */
    LAST_BOOKMARK_MS = 2000, /* before the end, as its watch cache does */
};

struct watch {
    struct http_stream stream;
    struct kube_server *server; /* NULL: the connection is broken */
    struct collection *collection;
    struct list link; /* in the server's streams */

    struct selector selector;
    char *namespace_;
    bool bookmarks;

    struct version **initial; /* told first, as if they were new */
    size_t n_initial, told;
    uint64_t next;     /* the number of the next change to look at */
    uint64_t revision; /* up to which it is complete */

    uint64_t bookmark_at, ends; /* loop_now() times */
    char *error;                /* an event that is told instead of all else */
    char *line;                 /* of an event that only this watch has */
};

/* ---- lines ---- */

static void give(const char *line, size_t length, const char **ret_data, size_t *ret_length)
{
    *ret_data = line;
    *ret_length = length;
}

static void give_own(struct watch *watch, char *line, const char **ret_data, size_t *ret_length)
{
    free(watch->line);
    watch->line = line;
    give(line, strlen(line), ret_data, ret_length);
}

static void give_version(struct watch *watch, enum change_type type, struct version *version,
                         const char **ret_data, size_t *ret_length)
{
    size_t length;
    const char *text;

    if (type == version->born) {
        text = version_line(version, &length);
        give(text, length, ret_data, ret_length);
        return;
    }
    text = version_text(version, &length);
    give_own(watch, mem_printf("%s%.*s" CHANGE_SUFFIX, change_prefixes[type], (int)length, text),
             ret_data, ret_length);
}

/* It is there, but no longer what the watch selects: its last state that was, as of now. */
static void give_departure(struct watch *watch, const struct change *change, const char **ret_data,
                           size_t *ret_length)
{
    CLEANUP(version_unrefp)
    struct version *last = version_new(change->before->key, change->event->revision, CHANGE_DELETED,
                                       metadata_copy_object(change->before->json));

    give_version(watch, CHANGE_DELETED, last, ret_data, ret_length);
    if (*ret_data != watch->line)
        give_own(watch, mem_strndup(*ret_data, *ret_length), ret_data, ret_length);
}

/* Whether the change is anything to this watch. */
static bool give_change(struct watch *watch, const struct change *change, const char **ret_data,
                        size_t *ret_length)
{
    struct version *before = change->before, *event = change->event;
    bool gone = event->born == CHANGE_DELETED;

    if (!page_in_namespace(event->key, watch->namespace_))
        return false;
    bool was = before && selector_matches(&watch->selector, before->json);
    bool is = !gone && selector_matches(&watch->selector, event->json);
    if (!was && !is)
        return false;
    if (is)
        give_version(watch, was ? CHANGE_MODIFIED : CHANGE_ADDED, event, ret_data, ret_length);
    else if (gone)
        give_version(watch, CHANGE_DELETED, event, ret_data, ret_length);
    else
        give_departure(watch, change, ret_data, ret_length);
    return true;
}

static void plan_bookmark(struct watch *watch, uint64_t now)
{
    uint64_t pause = watch->server->behaviour.bookmark_ms;
    uint64_t last = watch->ends > LAST_BOOKMARK_MS ? watch->ends - LAST_BOOKMARK_MS : 0;

    watch->bookmark_at = watch->bookmarks && pause ? now + pause : TIMER_NEVER;
    if (watch->bookmarks && now < last && last < watch->bookmark_at)
        watch->bookmark_at = last;
}

static void give_bookmark(struct watch *watch, const char **ret_data, size_t *ret_length)
{
    const struct api_resource *resource = watch->collection->kind->resource;
    uint64_t seen = collection_seen(watch->collection, watch->server->revision);

    if (seen > watch->revision)
        watch->revision = seen;
    give_own(watch,
             mem_printf("{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"%s\",\"apiVersion\":"
                        "\"%s%s%s\",\"metadata\":{\"resourceVersion\":\"%" PRIu64
                        "\",\"creationTimestamp\":null}}}\n",
                        resource->kind, resource->group, resource->group[0] ? "/" : "",
                        resource->version, watch->revision),
             ret_data, ret_length);
    plan_bookmark(watch, loop_now(watch->server->loop));
}

/* ---- reading ---- */

/* Whether there is anything to read now; 0 bytes are the end. */
static bool give_next(struct watch *watch, const char **ret_data, size_t *ret_length)
{
    struct collection *collection = watch->collection;
    uint64_t now = loop_now(watch->server->loop);

    if (watch->error) {
        bool told = watch->told++ > 0;

        give(watch->error, told ? 0 : strlen(watch->error), ret_data, ret_length);
        return true;
    }
    if (watch->told < watch->n_initial) {
        give_version(watch, CHANGE_ADDED, watch->initial[watch->told++], ret_data, ret_length);
        return true;
    }
    if (watch->next < collection->oldest || now >= watch->ends) {
        give("", 0, ret_data, ret_length); /* too slow for what is remembered, or at its end */
        return true;
    }
    while (watch->next < collection->published) {
        const struct change *change = collection_change(collection, watch->next++);

        watch->revision = change->event->revision;
        if (give_change(watch, change, ret_data, ret_length))
            return true;
    }
    if (now < watch->bookmark_at)
        return false;
    give_bookmark(watch, ret_data, ret_length);
    return true;
}

/* The time of a bookmark, or of the end, is none of the reader's business. */
static struct err *wait_for_more(struct task *self, struct watch *watch, uint64_t deadline)
{
    struct kube_server *server = watch->server;
    uint64_t own = watch->ends < watch->bookmark_at ? watch->ends : watch->bookmark_at;

    server_enter(server);
    struct err *err =
        wait_for_change(self, &watch->collection->watchers, deadline < own ? deadline : own);
    if (err && err_kind(err) == ERR_TIMEOUT && loop_now(server->loop) >= own) {
        err_free(err);
        err = NULL;
    }
    server_leave(server);
    return err;
}

static struct err *read_watch(struct http_stream *stream, struct task *self, uint64_t deadline,
                              const char **ret_data, size_t *ret_length)
{
    struct watch *watch = CONTAINER_OF(stream, struct watch, stream);

    for (;;) {
        if (!watch->server)
            return err_new(ERR_UNAVAILABLE, "the connection of the watch broke");
        if (give_next(watch, ret_data, ret_length))
            return NULL;
        TRY(wait_for_more(self, watch, deadline));
    }
}

static void close_watch(struct http_stream *stream)
{
    struct watch *watch = CONTAINER_OF(stream, struct watch, stream);

    list_remove(&watch->link);
    for (size_t i = 0; i < watch->n_initial; i++)
        version_unref(watch->initial[i]);
    free(watch->initial);
    selector_fini(&watch->selector);
    free(watch->namespace_);
    free(watch->error);
    free(watch->line);
    free(watch);
}

void watch_break_all(struct kube_server *server, const struct api_resource *resource)
{
    LIST_FOREACH(&server->streams, link) {
        struct watch *watch = CONTAINER_OF(link, struct watch, link);

        if (resource && watch->collection->kind->resource != resource)
            continue;
        list_remove(&watch->link);
        watch->server = NULL;
        waiters_wake(&watch->collection->watchers);
    }
}

/* ---- opening ---- */

/* The objects as of a revision are told first. */
static void begin_with_state(struct watch *watch, uint64_t revision)
{
    size_t n;
    struct version **objects = collection_as_of(watch->collection, revision, &n);

    for (size_t i = 0; i < n; i++)
        if (page_in_namespace(objects[i]->key, watch->namespace_) &&
            selector_matches(&watch->selector, objects[i]->json))
            objects[watch->n_initial++] = version_ref(objects[i]);
    watch->initial = objects;
    watch->revision = revision;
}

static struct err *begin(struct watch *watch, const char *version)
{
    struct kube_server *server = watch->server;

    if (!version || !version[0] || strcmp(version, "0") == 0) {
        bool newest = !version || !version[0];

        begin_with_state(watch, newest ? server->revision
                                       : page_stale_revision(server, watch->collection));
    } else {
        watch->revision = strtoull(version, NULL, 10);
    }
    watch->next = collection_after(watch->collection, watch->revision);
    if (watch->revision >= watch->collection->forgotten)
        return NULL;
    struct err *err = err_with_code(err_new(ERR_OUT_OF_RANGE,
                                            "too old resource version: %" PRIu64 " (%" PRIu64 ")",
                                            watch->revision, watch->collection->forgotten),
                                    "Expired");
    if (server->behaviour.gone_is_a_status)
        return err;
    watch->error = answer_error_line(err);
    return NULL;
}

static uint64_t end_of(struct kube_server *server, const char *timeout)
{
    uint64_t seconds = timeout ? strtoull(timeout, NULL, 10) : 0;

    if (!seconds)
        seconds = LEAST_TIMEOUT_S + random_below(loop_random(server->loop), LEAST_TIMEOUT_S);
    return loop_deadline(server->loop, seconds * 1000);
}

struct err *watch_open(struct kube_server *server, const struct target *target,
                       struct http_stream **ret)
{
    const struct form *query = &target->query;
    const char *bookmarks = form_get(query, "allowWatchBookmarks");
    CLEANUP(selector_fini) struct selector selector = {0};

    TRY(selector_read(target->kind, form_get(query, "labelSelector"),
                      form_get(query, "fieldSelector"), &selector));
    struct watch *watch = mem_alloc(sizeof *watch);
    *watch = (struct watch){
        .stream = {.read = read_watch, .close = close_watch},
        .server = server,
        .collection = server_collection(server, target->kind),
        .selector = selector,
        .namespace_ = mem_strdup(target->namespace_),
        .bookmarks = bookmarks && strcmp(bookmarks, "true") == 0,
        .ends = end_of(server, form_get(query, "timeoutSeconds")),
    };
    selector = (struct selector){0};
    list_append(&server->streams, &watch->link);
    plan_bookmark(watch, loop_now(server->loop));
    struct err *err = begin(watch, form_get(query, "resourceVersion"));
    if (err)
        close_watch(&watch->stream);
    else
        *ret = &watch->stream;
    return err;
}
