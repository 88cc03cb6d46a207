/* cached_client.h - requests about objects that a store keeps: the answer goes into the store.
 *
 * What looks into the store next, the reconcile that follows above all, sees what was written,
 * although the watch has not told it yet. An object that the server does not have is forgotten; one
 * to which somebody has written since (CONFLICT) is read anew. All reads and writes of objects that
 * this process keeps go through here, so that nobody forgets either. The namespace is that of the
 * object, or the caller's. An object that is passed may be borrowed from the store. Errors are
 * those of client.h. Loop's thread; every call yields.
 */
#pragma once

#include "lib/kube/client.h"
#include "lib/kube/store.h"

/* Reads the object anew. */
struct err *cached_get(struct task *self, struct kube *kube, struct store *store,
                       const char *namespace_, const char *name, struct kube_object **ret)
    __attribute__((warn_unused_result));

/* `ret` may be NULL, as below. */
struct err *cached_create(struct task *self, struct kube *kube, struct store *store,
                          const char *namespace_, const json_t *object, struct kube_object **ret)
    __attribute__((warn_unused_result));

/* A JSON merge patch of the object, or of its status; `changes` is taken. It applies to whatever
 * has the object's name, unless one of the conditions below is added to it. */
struct err *cached_patch(struct task *self, struct kube *kube, struct store *store,
                         const struct kube_object *object, json_t *changes,
                         struct kube_object **ret) __attribute__((warn_unused_result));
struct err *cached_patch_status(struct task *self, struct kube *kube, struct store *store,
                                const struct kube_object *object, json_t *changes,
                                struct kube_object **ret) __attribute__((warn_unused_result));

/* As kube_delete_unchanged(), which succeeds while finalizers still keep the object: then the store
 * shows it as going. */
struct err *cached_delete(struct task *self, struct kube *kube, struct store *store,
                          const struct kube_object *object) __attribute__((warn_unused_result));

/* Adds to `changes`, which are returned: CONFLICT if anybody has written to the object since. */
json_t *if_unchanged(const struct kube_object *object, json_t *changes);
/* CONFLICT if the name is another object's by now. */
json_t *if_same(const struct kube_object *object, json_t *changes);
