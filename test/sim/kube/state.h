/* state.h - what the simulated API server consists of; for the files of this folder only.
 */
#pragma once

#include "lib/rt/wait.h"
#include "test/sim/kube/collection.h"
#include "test/sim/kube/server.h"

struct kube_server {
    struct http_transport http;
    struct loop *loop;
    uint64_t revision;
    struct collection collections[KIND_COUNT];
    struct kube_server_behaviour behaviour;
    bool away, closing;

    struct list streams; /* watches that are open */
    unsigned inside;     /* calls that have not returned */
    struct waiters left; /* woken when a call returns */
    struct waiters end;  /* woken when the server closes */

    struct observer {
        kube_server_observer_fn *fn;
        void *ctx;
    } * observers;
    size_t n_observers;
};

static inline struct collection *server_collection(struct kube_server *server,
                                                   const struct kind *kind)
{
    return &server->collections[kind - kinds];
}

static inline void server_enter(struct kube_server *server)
{
    server->inside++;
}

static inline void server_leave(struct kube_server *server)
{
    server->inside--;
    waiters_wake(&server->left);
}

/* Writes as requests make them. `ret` is a reference, of the object as it is then; after a delete
 * it is what was marked, or NULL if the object is gone. */
struct err *server_create(struct kube_server *server, const struct kind *kind,
                          const char *namespace_, const json_t *body, struct version **ret)
    __attribute__((warn_unused_result));
/* `body` is a merge patch, or the whole object. */
struct err *server_update(struct kube_server *server, const struct kind *kind, const char *key,
                          const json_t *body, bool is_patch, bool status, struct version **ret)
    __attribute__((warn_unused_result));
struct err *server_delete(struct kube_server *server, const struct kind *kind, const char *key,
                          const json_t *options, struct version **ret)
    __attribute__((warn_unused_result));
