/* reflector.h - keeps a store equal to what the API server has, by list and watch.
 *
 * Lists page by page, then follows the watch, with bookmarks so that little is repeated after a
 * break. A broken watch goes on where it was; only when the server no longer has that place (410),
 * or what comes there is longer than an event may be, or no JSON, the whole list is read again.
 * Failures are tried again with growing pauses, for ever; they are reported through `failed`, once
 * each.
 *
 * Objects that are too large for a page, or too many for a slow link, are read in smaller ones
 * (pages.h), and the next list begins with what has proved to fit.
 *
 * An object that cannot be decoded is reported and passed over: the others come through, and what
 * the store has of it stays until it can be read again or is deleted. A number or a depth that is
 * beyond any JSON parser's does not even cost the object (lib/json/parse.h).
 */
#pragma once

#include "lib/kube/client.h"
#include "lib/kube/store.h"
#include "lib/rt/group.h"

struct reflector_config {
    struct kube *kube;
    const char *namespace_;                      /* NULL: all, or the resource has none */
    const char *label_selector, *field_selector; /* NULL: all */
    bool few;           /* what they select: a list may come as a whole, from the server's memory */
    bool metadata_only; /* nothing else of an object is asked for */
    /* Paths of the members that the store keeps, as for json_pick, with at least the metadata's
     * name, namespace and resourceVersion; the rest takes no memory. NULL: all. */
    const char *const *keep;
    /* What no selector can say: an object for which it is false is as good as none. NULL: all. */
    bool (*wanted)(const struct kube_object *object);
    /* Makes a digest (object.h) of each object, for the store to have in its stead. NULL: the store
     * has the objects. */
    struct kube_object *(*digest)(void *ctx, const struct kube_object *object);
    struct store *store;
    unsigned page_size; /* at most; 0: 500 */

    /* What happened, for logs and metrics; the reflector goes on. May be NULL. */
    void (*failed)(void *ctx, const struct api_resource *resource, const struct err *err);
    void *ctx;
};

/* Runs as a member of `group` until that is closed. What `config` points to must outlive it. */
void reflector_start(struct task_group *group, const struct reflector_config *config);

/* Puts into the store, beside its reflector, what there is now: for who is about to act for all and
 * must know what others have written before, while the reflector may still wait for a watch that
 * nobody answers. What is gone by then is forgotten. */
struct err *reflector_catch_up(struct task *self, const struct reflector_config *config)
    __attribute__((warn_unused_result));
