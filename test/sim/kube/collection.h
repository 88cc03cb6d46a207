/* collection.h - all objects of one kind: as they are, as they were, and what watches see of it.
 *
 * Changes are remembered in a ring, so that watches can start in the past and lists can show it;
 * what has been forgotten is gone for both. A change is seen by watches when it is published, which
 * may be later than it happened, but in order.
 */
#pragma once

#include "lib/rt/wait.h"
#include "test/sim/kube/kinds.h"
#include "test/sim/kube/version.h"

struct change {
    struct version *before; /* NULL: there was none */
    struct version *event;  /* what it is since; for CHANGE_DELETED what watches are told last */
    uint64_t at, seen;      /* when it happens, and when watches see it: loop_now() times */
};

enum { HISTORY = 1024 }; /* changes that are remembered; a power of two */

struct collection {
    struct loop *loop;
    const struct kind *kind;
    struct version **objects; /* in order of their keys */
    size_t n, capacity;

    /* Changes by number: change i is ring[i % HISTORY] for oldest <= i < next. */
    struct change *ring;
    uint64_t oldest, next, published;
    uint64_t forgotten; /* the revision up to which changes have left the ring, or were compacted */

    uint64_t delay_ms;   /* from a change to its publication */
    uint64_t late_until; /* when the last change is published that was not at once */
    struct timer publication;
    struct waiters watchers; /* woken at each publication */
};

void collection_init(struct collection *collection, struct loop *loop, const struct kind *kind);
void collection_fini(struct collection *collection);

/* Borrowed; NULL if there is none. */
struct version *collection_find(const struct collection *collection, const char *key);
/* Where a key is, or would be; whether it is there. */
bool collection_place(const struct collection *collection, const char *key, size_t *ret_place);

/* Takes the reference of `event`, the new state of its key or, if born CHANGE_DELETED, the end. */
void collection_record(struct collection *collection, struct version *event);

static inline const struct change *collection_change(const struct collection *collection,
                                                     uint64_t number)
{
    return &collection->ring[number % HISTORY];
}

/* The number of the first change after a revision that is remembered. */
uint64_t collection_after(const struct collection *collection, uint64_t revision);
/* The newest revision, at most `newest`, of which watches have seen all. */
uint64_t collection_seen(const struct collection *collection, uint64_t newest);
/* What was the newest revision at a time, as far as is remembered; at most `newest`. */
uint64_t collection_at(const struct collection *collection, uint64_t time, uint64_t newest);

/* All objects as they were at a revision that is remembered, in order. Each is borrowed; free() the
 * array. */
struct version **collection_as_of(const struct collection *collection, uint64_t revision,
                                  size_t *ret_n);
