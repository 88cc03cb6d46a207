#include "lib/kube/store.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"
#include "lib/kube/store_order.h"

struct store_entry {
    struct kube_object *object;
    bool unconfirmed;    /* neither a list nor the watch has told of this state yet */
    unsigned generation; /* of the list that it was last seen in */
    UT_hash_handle hh;   /* by the object's key */
};

/* An object that is known to be gone before the server's events have come so far. Until they have,
 * what they tell of it is from its life. */
struct tombstone {
    char *uid;
    uint64_t version;    /* it had at least this one */
    unsigned generation; /* of the last list that had been begun by then */
    UT_hash_handle hh;
};

/* The objects of an index that share a value. */
struct bucket {
    char *value;
    struct kube_object **objects;
    size_t n;
    UT_hash_handle hh;
};

/* Those who wait for one key, or one value of an index. */
struct interest {
    char *key;
    unsigned users;
    struct waiters waiters;
    UT_hash_handle hh;
};

struct store_index {
    store_index_fn *fn;
    struct bucket *buckets;
    struct interest *interests;
    struct store_index *next;
};

struct observer {
    store_observer_fn *fn;
    void *ctx;
};

struct store {
    const struct api_resource *resource;
    struct store_entry *entries;
    struct tombstone *tombstones;
    struct store_index *indexes;
    struct store_order *order; /* NULL: it is not kept sorted */
    struct observer *observers;
    size_t n_observers;
    struct interest *interests;
    unsigned generation;
    struct list walks; /* of struct store_walk */
    uint64_t version;  /* up to which the server has told us everything */
    uint64_t listing;  /* the version of the last list that was begun, once it is known */
    bool synced;
    struct waiters synced_waiters;
};

struct store *store_new(const struct api_resource *resource)
{
    struct store *store = mem_alloc(sizeof *store);

    store->resource = resource;
    waiters_init(&store->synced_waiters);
    list_init(&store->walks);
    return store;
}

const struct api_resource *store_resource(const struct store *store)
{
    return store->resource;
}

static void free_index(struct store_index *index)
{
    assert(!index->interests);
    HASH_FOREACH(index->buckets, bucket) {
        HASH_DEL(index->buckets, bucket);
        free(bucket->value);
        free(bucket->objects);
        free(bucket);
    }
    free(index);
}

static void drop_tombstone(struct store *store, struct tombstone *tombstone)
{
    HASH_DEL(store->tombstones, tombstone);
    free(tombstone->uid);
    free(tombstone);
}

void store_free(struct store *store)
{
    if (!store)
        return;
    assert(!store->interests && list_is_empty(&store->walks));
    for (struct store_index *index = store->indexes, *next; index; index = next) {
        next = index->next;
        free_index(index);
    }
    HASH_FOREACH(store->entries, entry) {
        HASH_DEL(store->entries, entry);
        kube_object_unref(entry->object);
        free(entry);
    }
    HASH_FOREACH(store->tombstones, tombstone)
        drop_tombstone(store, tombstone);
    store_order_free(store->order);
    free(store->observers);
    free(store);
}

/* ---- reading ---- */

static struct store_entry *find_entry(const struct store *store, const char *key)
{
    struct store_entry *entry;

    HASH_FIND_STR(store->entries, key, entry);
    return entry;
}

struct kube_object *store_get(const struct store *store, const char *key)
{
    struct store_entry *entry = find_entry(store, key);

    return entry ? entry->object : NULL;
}

size_t store_count(const struct store *store)
{
    return HASH_COUNT(store->entries);
}

bool store_is_synced(const struct store *store)
{
    return store->synced;
}

struct kube_object *store_next(const struct store *store, const struct kube_object *previous)
{
    struct store_entry *entry =
        previous ? find_entry(store, previous->key)->hh.next : store->entries;

    return entry ? entry->object : NULL;
}

/* ---- walks ---- */

void store_walk_begin(struct store_walk *walk, struct store *store)
{
    *walk = (struct store_walk){.store = store, .next = store->entries};
    list_append(&store->walks, &walk->link);
}

struct kube_object *store_walk_next(struct store_walk *walk)
{
    struct store_entry *entry = walk->next;

    if (!entry)
        return NULL;
    walk->next = entry->hh.next;
    return entry->object;
}

void store_walk_end(struct store_walk *walk)
{
    list_remove(&walk->link);
}

static void pass_over(struct store *store, const struct store_entry *entry)
{
    LIST_FOREACH(&store->walks, link) {
        struct store_walk *walk = CONTAINER_OF(link, struct store_walk, link);

        if (walk->next == entry)
            walk->next = entry->hh.next;
    }
}

/* ---- in the order of keys ---- */

void store_keep_sorted(struct store *store)
{
    assert(!store->entries && !store->order);
    store->order = store_order_new();
}

struct kube_object *store_after(const struct store *store, const char *key)
{
    return store_order_after(store->order, key);
}

/* ---- indexes ---- */

struct store_index *store_add_index(struct store *store, store_index_fn *fn)
{
    struct store_index *index = mem_alloc(sizeof *index);

    assert(!store->entries);
    *index = (struct store_index){.fn = fn, .next = store->indexes};
    store->indexes = index;
    return index;
}

static struct bucket *find_bucket(const struct store_index *index, const char *value)
{
    struct bucket *bucket;

    HASH_FIND_STR(index->buckets, value, bucket);
    return bucket;
}

struct kube_object *const *store_find(const struct store_index *index, const char *value,
                                      size_t *ret_n)
{
    struct bucket *bucket = find_bucket(index, value);

    *ret_n = bucket ? bucket->n : 0;
    return bucket ? bucket->objects : NULL;
}

struct indexing {
    struct store_index *index;
    struct kube_object *object;
};

static void index_value(void *ctx, const char *value)
{
    struct indexing *indexing = ctx;
    struct bucket *bucket = find_bucket(indexing->index, value);

    if (!bucket) {
        bucket = mem_alloc(sizeof *bucket);
        bucket->value = mem_strdup(value);
        HASH_ADD_KEYPTR(hh, indexing->index->buckets, bucket->value, strlen(bucket->value), bucket);
    }
    for (size_t i = 0; i < bucket->n; i++)
        if (bucket->objects[i] == indexing->object)
            return; /* a pod may name a claim twice */
    ARRAY_ADD(bucket->objects, bucket->n) = indexing->object;
}

/* The order within a bucket stays that of arrival, so that runs repeat. */
static void unindex_value(void *ctx, const char *value)
{
    struct indexing *indexing = ctx;
    struct bucket *bucket = find_bucket(indexing->index, value);
    size_t kept = 0;

    if (!bucket)
        return;
    for (size_t i = 0; i < bucket->n; i++)
        if (bucket->objects[i] != indexing->object)
            bucket->objects[kept++] = bucket->objects[i];
    bucket->n = kept;
    if (kept == 0) {
        HASH_DEL(indexing->index->buckets, bucket);
        free(bucket->value);
        free(bucket->objects);
        free(bucket);
    }
}

static void reindex(struct store *store, struct kube_object *before, struct kube_object *after)
{
    if (store->order)
        store_order_change(store->order, before, after);
    for (struct store_index *index = store->indexes; index; index = index->next) {
        if (before)
            index->fn(before, unindex_value, &(struct indexing){index, before});
        if (after)
            index->fn(after, index_value, &(struct indexing){index, after});
    }
}

/* ---- following ---- */

void store_observe(struct store *store, store_observer_fn *fn, void *ctx)
{
    ARRAY_ADD(store->observers, store->n_observers) = (struct observer){fn, ctx};
}

static struct err *wait_interested(struct task *self, struct interest **interests, const char *key,
                                   uint64_t deadline)
{
    struct interest *interest;

    HASH_FIND_STR(*interests, key, interest);
    if (!interest) {
        interest = mem_alloc(sizeof *interest);
        interest->key = mem_strdup(key);
        waiters_init(&interest->waiters);
        HASH_ADD_KEYPTR(hh, *interests, interest->key, strlen(interest->key), interest);
    }
    interest->users++;
    task_trim_stack(self); /* it may take minutes, and thousands of calls may wait */
    struct err *err = wait_for_change(self, &interest->waiters, deadline);
    if (--interest->users == 0) {
        HASH_DEL(*interests, interest);
        free(interest->key);
        free(interest);
    }
    return err;
}

struct err *store_wait(struct task *self, struct store *store, const char *key, uint64_t deadline)
{
    return wait_interested(self, &store->interests, key, deadline);
}

struct err *store_wait_found(struct task *self, struct store_index *index, const char *value,
                             uint64_t deadline)
{
    return wait_interested(self, &index->interests, value, deadline);
}

struct err *store_wait_synced(struct task *self, struct store *store, uint64_t deadline)
{
    while (!store->synced)
        TRY(wait_for_change(self, &store->synced_waiters, deadline));
    return NULL;
}

/* `ctx` is the interests. */
static void wake(void *ctx, const char *key)
{
    struct interest *interests = ctx, *interest;

    HASH_FIND_STR(interests, key, interest);
    if (interest)
        waiters_wake(&interest->waiters);
}

static void notify(struct store *store, const char *key, struct kube_object *before,
                   struct kube_object *after)
{
    for (size_t i = 0; i < store->n_observers; i++)
        store->observers[i].fn(store->observers[i].ctx, before, after);
    wake(store->interests, key);
    for (struct store_index *index = store->indexes; index; index = index->next) {
        if (before && index->interests)
            index->fn(before, wake, index->interests);
        if (after && index->interests)
            index->fn(after, wake, index->interests);
    }
}

/* ---- writing ---- */

static void advance(struct store *store, uint64_t version)
{
    if (version > store->version)
        store->version = version;
}

static struct store_entry *add_entry(struct store *store, struct kube_object *object)
{
    struct store_entry *entry = mem_alloc(sizeof *entry);

    entry->object = kube_object_ref(object);
    HASH_ADD_KEYPTR(hh, store->entries, object->key, strlen(object->key), entry);
    reindex(store, NULL, object);
    notify(store, object->key, NULL, object);
    return entry;
}

static void replace(struct store *store, struct store_entry *entry, struct kube_object *after)
{
    CLEANUP(kube_object_unrefp) struct kube_object *before = entry->object;

    entry->unconfirmed = false;
    entry->object = kube_object_ref(after);
    entry->hh.key = after->key; /* the same text; the other one goes with its object */
    reindex(store, before, after);
    notify(store, after->key, before, after);
}

static void drop(struct store *store, struct store_entry *entry)
{
    CLEANUP(kube_object_unrefp) struct kube_object *before = entry->object;

    pass_over(store, entry);
    HASH_DEL(store->entries, entry);
    free(entry);
    reindex(store, before, NULL);
    notify(store, before->key, before, NULL);
}

static struct tombstone *find_tombstone(const struct store *store, const struct kube_object *object)
{
    struct tombstone *tombstone = NULL;

    if (object->metadata->uid)
        HASH_FIND_STR(store->tombstones, object->metadata->uid, tombstone);
    return tombstone;
}

void store_apply_write(struct store *store, struct kube_object *object)
{
    struct store_entry *entry = find_entry(store, object->key);
    bool listed = entry && entry->generation == store->generation;

    /* What we have been told about and do not have was deleted since. */
    if (find_tombstone(store, object) || object->version <= store->version ||
        (listed && object->version <= store->listing) ||
        (entry && object->version <= entry->object->version))
        return;
    if (entry)
        replace(store, entry, object);
    else
        entry = add_entry(store, object);
    entry->unconfirmed = true;
}

void store_tombstone(struct store *store, const struct kube_object *object)
{
    struct store_entry *entry = find_entry(store, object->key);
    const char *uid = object->metadata->uid;
    struct tombstone *tombstone;

    if (!entry || !uid || !entry->object->metadata->uid ||
        strcmp(entry->object->metadata->uid, uid) != 0)
        return;
    tombstone = mem_alloc(sizeof *tombstone);
    tombstone->uid = mem_strdup(uid);
    tombstone->version = entry->object->version;
    tombstone->generation = store->generation;
    HASH_ADD_KEYPTR(hh, store->tombstones, tombstone->uid, strlen(tombstone->uid), tombstone);
    drop(store, entry);
}

void store_put(struct store *store, struct kube_object *object)
{
    struct store_entry *entry = find_entry(store, object->key);

    advance(store, object->version);
    if (find_tombstone(store, object))
        return;
    if (!entry)
        entry = add_entry(store, object);
    else if (object->version > entry->object->version)
        replace(store, entry, object);
    else if (object->version == entry->object->version)
        entry->unconfirmed = false;
    entry->generation = store->generation;
}

void store_remove(struct store *store, const struct kube_object *object)
{
    struct store_entry *entry = find_entry(store, object->key);
    struct tombstone *tombstone = find_tombstone(store, object);

    advance(store, object->version);
    if (tombstone)
        drop_tombstone(store, tombstone);
    /* A successor of the same name, written before the event came, stays. */
    if (entry && entry->object->version <= object->version)
        drop(store, entry);
}

void store_keep(struct store *store, const struct kube_object *object)
{
    struct store_entry *entry = find_entry(store, object->key);

    advance(store, object->version);
    if (entry)
        entry->generation = store->generation;
}

void store_begin_list(struct store *store)
{
    store->generation++;
    store->listing = 0;
}

static bool is_newer(const struct store_entry *entry, uint64_t version)
{
    return entry->unconfirmed && entry->object->version > version;
}

void store_put_listed(struct store *store, struct kube_object *object, uint64_t version)
{
    struct store_entry *entry = find_entry(store, object->key);
    struct tombstone *tombstone = find_tombstone(store, object);

    store->listing = version;
    if (tombstone && tombstone->generation == store->generation)
        return; /* it went while the list was on its way */
    if (tombstone)
        drop_tombstone(store, tombstone);
    if (!entry)
        entry = add_entry(store, object);
    else if (!is_newer(entry, version) && object->version != entry->object->version)
        replace(store, entry, object);
    entry->unconfirmed = is_newer(entry, version);
    entry->generation = store->generation;
}

void store_end_list(struct store *store, uint64_t version)
{
    HASH_FOREACH(store->entries, entry)
        if (entry->generation != store->generation && !is_newer(entry, version))
            drop(store, entry);
    HASH_FOREACH(store->tombstones, tombstone)
        if (tombstone->generation != store->generation && tombstone->version <= version)
            drop_tombstone(store, tombstone);
    store->version = version;
    store->synced = true;
    waiters_wake(&store->synced_waiters);
}

void store_put_beside(struct store *store, struct kube_object *object, uint64_t version)
{
    struct store_entry *entry = find_entry(store, object->key);

    if (find_tombstone(store, object))
        return;
    if (!entry && store->version <= version)
        entry = add_entry(store, object);
    else if (entry && entry->object->version <= version &&
             entry->object->version != object->version)
        replace(store, entry, object);
    else
        return;
    entry->unconfirmed = true;
}
