/* store.h - all objects of one resource, as far as we have heard.
 *
 * The reflector fills a store; everybody else reads it. An object is found by its key, or by an
 * index: a function that names the values under which an object can be found (the node of an
 * attachment, the claims of a pod). Observers are called at every change, on the task that writes,
 * and must neither yield nor write to the store.
 *
 * A store may be behind the server. What a write of our own answers goes in too (cached_client.h):
 * the reconcile that follows then sees what it wrote.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/api/resources.h"
#include "lib/kube/object.h"
#include "lib/rt/wait.h"

struct store;

struct store *store_new(const struct api_resource *resource);
void store_free(struct store *store);
DEFINE_CLEANUP(struct store, store_free)

const struct api_resource *store_resource(const struct store *store);

/* ---- reading; borrowed pointers are good until the next yield unless referenced ---- */

struct kube_object *store_get(const struct store *store, const char *key);
size_t store_count(const struct store *store);
/* True once a whole list has been read; before that, absence means nothing. */
bool store_is_synced(const struct store *store);

/* All objects, in the order in which they came: STORE_FOREACH(store, object) { ... }
 * The body must not write to the store. */
struct kube_object *store_next(const struct store *store, const struct kube_object *previous);
#define STORE_FOREACH(store, object)                                                               \
    for (struct kube_object *object = store_next((store), NULL); object;                           \
         object = store_next((store), object))

/* The same over yields: begin, next until it is NULL, end. What is there all the time comes exactly
 * once; what comes or goes meanwhile may be missed. An object is good until the next yield. */
struct store_walk {
    struct store *store;
    struct store_entry *next;
    struct list link;
};

void store_walk_begin(struct store_walk *walk, struct store *store);
struct kube_object *store_walk_next(struct store_walk *walk);
void store_walk_end(struct store_walk *walk);

/* ---- in the order of keys ---- */

/* Before the store is filled. */
void store_keep_sorted(struct store *store);
/* Of a store that is kept sorted: the first object whose key comes after this text, which need not
 * be the key of one; NULL if there is none. */
struct kube_object *store_after(const struct store *store, const char *key);

/* ---- indexes ---- */

struct store_index;

/* Calls emit(ctx, value) for each value under which the object is found; a value may come twice. */
typedef void store_index_fn(const struct kube_object *object,
                            void (*emit)(void *ctx, const char *value), void *ctx);

/* Before the store is filled. The store owns the index. */
struct store_index *store_add_index(struct store *store, store_index_fn *fn);

/* The objects under a value; NULL and 0 if none. */
struct kube_object *const *store_find(const struct store_index *index, const char *value,
                                      size_t *ret_n);

/* ---- following ---- */

/* `before` is NULL for a new object, `after` NULL for one that is gone. */
typedef void store_observer_fn(void *ctx, struct kube_object *before, struct kube_object *after);
void store_observe(struct store *store, store_observer_fn *fn, void *ctx);

/* Waits until the object with this key appears, changes or goes. TIMEOUT, CANCELED. */
struct err *store_wait(struct task *self, struct store *store, const char *key, uint64_t deadline)
    __attribute__((warn_unused_result));
/* The same of any object that the index has under the value, or had until then. */
struct err *store_wait_found(struct task *self, struct store_index *index, const char *value,
                             uint64_t deadline) __attribute__((warn_unused_result));
struct err *store_wait_synced(struct task *self, struct store *store, uint64_t deadline)
    __attribute__((warn_unused_result));

/* ---- writing: by the reflector, and after writes of our own ---- */

/* What we just wrote and got back. It is ignored if the server has told us everything up to then,
 * which may be that the object is gone. */
void store_apply_write(struct store *store, struct kube_object *object);
/* A call of ours did not find the object: it goes, and a tombstone keeps out what the store may
 * hear of it yet, which is of before. */
void store_tombstone(struct store *store, const struct kube_object *object);

/* An event of a watch. */
void store_put(struct store *store, struct kube_object *object);
void store_remove(struct store *store, const struct kube_object *object);
/* It is there, in a state that cannot be read: what the store has of it, if anything, stays. */
void store_keep(struct store *store, const struct kube_object *object);

/* A whole list, which takes the place of what the store has: store_begin_list when it is asked for,
 * store_put_listed for each object, store_end_list; `version` is the list's own.
 *
 * Versions of objects are not compared. They say what is newer only as long as the server's history
 * is one: an etcd that was restored from a backup lists older versions than it told before, and
 * what it told of the time between has never been. (client-go's informers replace all they have by
 * a list, too.)
 *
 * Only what neither a list nor the watch has told yet may be newer than a list and right: a write
 * of ours that was answered while the list was on its way. It stays if it is newer than the list,
 * whose watch is about to tell it. (client-go's MutationCache keeps such writes for some time.) A
 * restore brings a later revision than any before, if it is done as etcd's manual has it (etcdutl
 * --bump-revision), so that nothing that was lost is taken for such a write. */
void store_begin_list(struct store *store);
void store_put_listed(struct store *store, struct kube_object *object, uint64_t version);
void store_end_list(struct store *store, uint64_t version);

/* An object of a list that was read beside the reflector's own lists and watch, which may have told
 * newer things than it has. */
void store_put_beside(struct store *store, struct kube_object *object, uint64_t version);
