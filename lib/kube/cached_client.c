#include "lib/kube/cached_client.h"

/* What was there before the request: one that has come meanwhile is not the one that is missing. */
static void forget_if_gone(struct store *store, const struct kube_object *before,
                           const struct err *err)
{
    if (before && err_kind(err) == ERR_NOT_FOUND)
        store_tombstone(store, before);
}

/* One that was only kept by the finalizers that it has lost is gone; the watch will say so. */
static bool is_gone(const struct kube_object *object)
{
    return kube_is_deleting(object->metadata) && object->metadata->n_finalizers == 0;
}

static void keep(struct store *store, struct kube_object *object, struct kube_object **ret)
{
    if (!is_gone(object))
        store_apply_write(store, object);
    if (ret)
        *ret = kube_object_ref(object);
}

struct err *cached_get(struct task *self, struct kube *kube, struct store *store,
                       const char *namespace_, const char *name, struct kube_object **ret)
{
    CLEANUP(freep) char *key = kube_key(namespace_, name);
    struct kube_object *known = store_get(store, key);
    CLEANUP(kube_object_unrefp)
    struct kube_object *before = known ? kube_object_ref(known) : NULL;
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    struct err *err = kube_get(self, kube, store_resource(store), namespace_, name, &object);

    if (err) {
        forget_if_gone(store, before, err);
        return err;
    }
    keep(store, object, ret);
    return NULL;
}

struct err *cached_create(struct task *self, struct kube *kube, struct store *store,
                          const char *namespace_, const json_t *object, struct kube_object **ret)
{
    CLEANUP(kube_object_unrefp) struct kube_object *created = NULL;

    TRY(kube_create(self, kube, store_resource(store), namespace_, object, &created));
    keep(store, created, ret);
    return NULL;
}

/* While a request is under way: the caller's may be borrowed from a store. */
static struct kube_object *hold(const struct kube_object *object)
{
    return kube_object_ref((struct kube_object *)(uintptr_t)object);
}

/* Somebody has written to it since. Until the watch tells of that, which may take long, whoever
 * tries again would decide by the same state, and be refused again. If it cannot be read, the next
 * attempt does. */
static void see_if_behind(struct task *self, struct kube *kube, struct store *store,
                          const struct kube_object *object, const struct err *err)
{
    const struct kube_object *known = store_get(store, object->key);

    if (err_kind(err) == ERR_CONFLICT && known && known->version <= object->version)
        err_free(cached_get(self, kube, store, object->metadata->namespace_, object->metadata->name,
                            NULL));
}

static struct err *patch(struct task *self, struct kube *kube, struct store *store,
                         const struct kube_object *object, const char *subresource,
                         const json_t *changes, struct kube_object **ret)
{
    CLEANUP(kube_object_unrefp) struct kube_object *held = hold(object), *written = NULL;
    struct err *err = kube_patch(self, kube, store_resource(store), held->metadata->namespace_,
                                 held->metadata->name, subresource, changes, &written);

    if (err) {
        forget_if_gone(store, held, err);
        see_if_behind(self, kube, store, held, err);
        return err;
    }
    keep(store, written, ret);
    return NULL;
}

struct err *cached_patch(struct task *self, struct kube *kube, struct store *store,
                         const struct kube_object *object, json_t *changes,
                         struct kube_object **ret)
{
    CLEANUP(json_decrefp) json_t *taken = changes;

    return patch(self, kube, store, object, NULL, taken, ret);
}

struct err *cached_patch_status(struct task *self, struct kube *kube, struct store *store,
                                const struct kube_object *object, json_t *changes,
                                struct kube_object **ret)
{
    CLEANUP(json_decrefp) json_t *taken = changes;

    return patch(self, kube, store, object, "status", taken, ret);
}

struct err *cached_delete(struct task *self, struct kube *kube, struct store *store,
                          const struct kube_object *object)
{
    CLEANUP(kube_object_unrefp) struct kube_object *held = hold(object);
    struct err *err = kube_delete_unchanged(self, kube, store_resource(store), held);

    if (err) {
        see_if_behind(self, kube, store, held, err);
        return err;
    }
    return err_unless(
        cached_get(self, kube, store, held->metadata->namespace_, held->metadata->name, NULL),
        ERR_NOT_FOUND);
}

/* ---- conditions ---- */

static json_t *with_metadata(json_t *changes, const char *member, const char *value)
{
    json_t *metadata = json_object_get(changes, "metadata");

    if (!metadata) {
        metadata = json_object();
        json_object_set_new(changes, "metadata", metadata);
    }
    json_object_set_new(metadata, member, json_string(value));
    return changes;
}

json_t *if_unchanged(const struct kube_object *object, json_t *changes)
{
    return with_metadata(changes, "resourceVersion", object->metadata->resource_version);
}

json_t *if_same(const struct kube_object *object, json_t *changes)
{
    return with_metadata(changes, "uid", object->metadata->uid);
}
