#include "test/sim/kube/server.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/sim/kube/api_errors.h"
#include "test/sim/kube/metadata.h"
#include "test/sim/kube/request.h"
#include "test/sim/kube/rules.h"
#include "test/sim/kube/state.h"
#include "test/sim/kube/watch.h"

enum { BOOKMARK_MS = 60 * 1000 }; /* as kube-apiserver sends them */

struct kube_server *kube_server_new(struct loop *loop)
{
    struct kube_server *server = mem_alloc(sizeof *server);

    server->http = (struct http_transport){.exchange = request_exchange, .open = request_open};
    server->loop = loop;
    server->revision = 1;
    server->behaviour.bookmark_ms = BOOKMARK_MS;
    for (unsigned i = 0; i < KIND_COUNT; i++)
        collection_init(&server->collections[i], loop, &kinds[i]);
    list_init(&server->streams);
    waiters_init(&server->left);
    waiters_init(&server->end);
    return server;
}

void kube_server_close(struct task *self, struct kube_server *server)
{
    server->closing = true;
    waiters_wake(&server->end);
    watch_break_all(server, NULL);
    while (server->inside > 0)
        wait_uninterruptible(self, &server->left);
    for (unsigned i = 0; i < KIND_COUNT; i++)
        collection_fini(&server->collections[i]);
    free(server->observers);
    free(server);
}

struct http_transport *kube_server_http(struct kube_server *server)
{
    return &server->http;
}

/* ---- reading ---- */

static const struct collection *collection_of(const struct kube_server *server,
                                              const struct api_resource *resource)
{
    return &server->collections[kind_index(resource)];
}

const json_t *kube_server_get(const struct kube_server *server, const struct api_resource *resource,
                              const char *namespace_, const char *name)
{
    const struct collection *collection = collection_of(server, resource);
    char key[LONGEST_KEY];

    metadata_key(collection->kind, namespace_, name, key);
    const struct version *version = collection_find(collection, key);
    return version ? version->json : NULL;
}

const json_t *kube_server_at(const struct kube_server *server, const struct api_resource *resource,
                             size_t place)
{
    return collection_of(server, resource)->objects[place]->json;
}

size_t kube_server_count(const struct kube_server *server, const struct api_resource *resource)
{
    return collection_of(server, resource)->n;
}

uint64_t kube_server_revision(const struct kube_server *server)
{
    return server->revision;
}

/* ---- changes ---- */

void kube_server_observe(struct kube_server *server, kube_server_observer_fn *fn, void *ctx)
{
    ARRAY_ADD(server->observers, server->n_observers) = (struct observer){fn, ctx};
}

/* Makes `json`, whose reference it takes, the state of the key; returns it, borrowed. */
static struct version *commit(struct kube_server *server, const struct kind *kind, const char *key,
                              enum change_type type, json_t *json)
{
    struct collection *collection = server_collection(server, kind);
    CLEANUP(version_unrefp) struct version *before = collection_find(collection, key);
    struct version *event = version_new(key, ++server->revision, type, json);

    if (before)
        version_ref(before);
    collection_record(collection, event);
    for (size_t i = 0; i < server->n_observers; i++)
        server->observers[i].fn(server->observers[i].ctx, kind->resource,
                                before ? before->json : NULL,
                                type == CHANGE_DELETED ? NULL : event->json);
    return event;
}

static void remove_object(struct kube_server *server, const struct kind *kind,
                          const struct version *old)
{
    CLEANUP(freep) char *key = mem_strdup(old->key);

    commit(server, kind, key, CHANGE_DELETED, metadata_copy_object(old->json));
}

struct err *server_create(struct kube_server *server, const struct kind *kind,
                          const char *namespace_, const json_t *body, struct version **ret)
{
    CLEANUP(json_decrefp) json_t *json = NULL;
    char key[LONGEST_KEY];

    TRY(rules_create(kind, namespace_, body, loop_wall_us(server->loop), loop_random(server->loop),
                     &json));
    const char *name =
        json_string_value(json_object_get(json_object_get(json, "metadata"), "name"));
    metadata_key(kind, namespace_, name, key);
    if (collection_find(server_collection(server, kind), key))
        return refuse_existing(kind, name);
    *ret = version_ref(commit(server, kind, key, CHANGE_ADDED, TAKE_PTR(json)));
    return NULL;
}

static struct err *not_found(const struct kind *kind, const char *key)
{
    const char *slash = strchr(key, '/');

    return refuse_not_found(kind, slash ? slash + 1 : key);
}

struct err *server_update(struct kube_server *server, const struct kind *kind, const char *key,
                          const json_t *body, bool is_patch, bool status, struct version **ret)
{
    CLEANUP(json_decrefp) json_t *json = NULL;
    CLEANUP(json_decrefp) json_t *wanted = NULL;
    struct version *old = collection_find(server_collection(server, kind), key);

    if (!old)
        return not_found(kind, key);
    if (!is_patch)
        TRY(rules_check_replaced(kind, old->json, body));
    wanted = is_patch ? rules_merge(old->json, body) : json_incref((json_t *)(uintptr_t)body);
    TRY(rules_update(kind, old->json, wanted, status, &json));
    if (json_equal(json, old->json)) {
        *ret = version_ref(old);
    } else if (rules_is_released(json)) {
        /* Its last state was never written: watches are told the one before. */
        *ret = version_new(key, old->revision, CHANGE_MODIFIED, TAKE_PTR(json));
        remove_object(server, kind, old);
    } else {
        *ret = version_ref(commit(server, kind, key, CHANGE_MODIFIED, TAKE_PTR(json)));
    }
    return NULL;
}

struct err *server_delete(struct kube_server *server, const struct kind *kind, const char *key,
                          const json_t *options, struct version **ret)
{
    CLEANUP(json_decrefp) json_t *marked = NULL;
    struct version *old = collection_find(server_collection(server, kind), key);

    if (!old)
        return not_found(kind, key);
    TRY(rules_delete(kind, old->json, options, loop_wall_us(server->loop), &marked));
    if (!marked) {
        remove_object(server, kind, old);
        *ret = NULL;
    } else if (json_equal(marked, old->json)) {
        *ret = version_ref(old);
    } else {
        *ret = version_ref(commit(server, kind, key, CHANGE_MODIFIED, TAKE_PTR(marked)));
    }
    return NULL;
}

/* ---- writes of the world ---- */

struct err *kube_server_create(struct kube_server *server, const struct api_resource *resource,
                               const char *namespace_, const json_t *object)
{
    CLEANUP(version_unrefp) struct version *made = NULL;

    return server_create(server, &kinds[kind_index(resource)], namespace_, object, &made);
}

struct err *kube_server_patch(struct kube_server *server, const struct api_resource *resource,
                              const char *namespace_, const char *name, const char *subresource,
                              const json_t *patch)
{
    const struct kind *kind = &kinds[kind_index(resource)];
    CLEANUP(version_unrefp) struct version *made = NULL;
    char key[LONGEST_KEY];

    metadata_key(kind, namespace_, name, key);
    if (subresource && (!kind->has_status || strcmp(subresource, "status") != 0))
        return refuse_not_found(kind, name);
    return server_update(server, kind, key, patch, true, subresource, &made);
}

static struct err *delete_with(struct kube_server *server, const struct api_resource *resource,
                               const char *namespace_, const char *name, const json_t *options)
{
    const struct kind *kind = &kinds[kind_index(resource)];
    CLEANUP(version_unrefp) struct version *marked = NULL;
    char key[LONGEST_KEY];

    metadata_key(kind, namespace_, name, key);
    return server_delete(server, kind, key, options, &marked);
}

struct err *kube_server_delete(struct kube_server *server, const struct api_resource *resource,
                               const char *namespace_, const char *name)
{
    return delete_with(server, resource, namespace_, name, NULL);
}

struct err *kube_server_delete_now(struct kube_server *server, const struct api_resource *resource,
                                   const char *namespace_, const char *name)
{
    CLEANUP(json_decrefp) json_t *options = json_pack("{s:i}", "gracePeriodSeconds", 0);

    return delete_with(server, resource, namespace_, name, options);
}

/* ---- what may be wrong with it ---- */

struct kube_server_behaviour *kube_server_behaviour(struct kube_server *server)
{
    return &server->behaviour;
}

void kube_server_delay_watches(struct kube_server *server, const struct api_resource *resource,
                               uint64_t ms)
{
    server->collections[kind_index(resource)].delay_ms = ms;
}

uint64_t kube_server_late_until(const struct kube_server *server,
                                const struct api_resource *resource)
{
    return server->collections[kind_index(resource)].late_until;
}

void kube_server_compact(struct kube_server *server)
{
    for (unsigned i = 0; i < KIND_COUNT; i++)
        server->collections[i].forgotten = server->revision;
}

void kube_server_break_watches(struct kube_server *server, const struct api_resource *resource)
{
    watch_break_all(server, resource);
}

bool kube_server_is_away(const struct kube_server *server)
{
    return server->away;
}

void kube_server_go_away(struct kube_server *server, bool away)
{
    server->away = away;
    if (away)
        watch_break_all(server, NULL);
}
