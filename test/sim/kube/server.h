/* server.h - the simulated Kubernetes API server.
 *
 * It keeps objects and answers requests by the rules of kube-apiserver, as an HTTP transport in the
 * same process: lib/kube's client, reflector, lease and events run over it unchanged. Requests take
 * no time here; what happens on the way to a server is test/sim/network_link.h. No admission, no
 * schemas, no garbage collection, and every namespace exists: what acts on objects is the world's.
 *
 * The world reads and writes the truth directly, by the same rules, without a yield. JSON that is
 * handed in becomes part of objects, and JSON that is handed out is part of them: neither may be
 * changed afterwards. What is borrowed is good until the next write. Everything is for the loop's
 * thread.
 */
#pragma once

#include <jansson.h>

#include "lib/api/resources.h"
#include "lib/http/transport.h"
#include "lib/rt/loop.h"
#include "test/sim/kube/fault.h"
#include "test/sim/kube/kinds.h"

struct kube_server;

struct kube_server *kube_server_new(struct loop *loop);
/* Breaks streams, waits until nobody is in a request or in a read, and frees. Streams are still
 * their owners' to close. */
void kube_server_close(struct task *self, struct kube_server *server);

struct http_transport *kube_server_http(struct kube_server *server);

/* ---- the truth; `namespace_` is NULL for resources without one ---- */

/* Borrowed; NULL if there is none. */
const json_t *kube_server_get(const struct kube_server *server, const struct api_resource *resource,
                              const char *namespace_, const char *name);
/* Of all objects of a kind, in order of namespace/name, until that kind is written to. */
const json_t *kube_server_at(const struct kube_server *server, const struct api_resource *resource,
                             size_t place);
size_t kube_server_count(const struct kube_server *server, const struct api_resource *resource);

/* The revision of the last change of any object, which is that object's resourceVersion. */
uint64_t kube_server_revision(const struct kube_server *server);

/* ---- writes; errors are those that lib/kube's client would return ---- */

/* `object` needs neither apiVersion nor kind. */
struct err *kube_server_create(struct kube_server *server, const struct api_resource *resource,
                               const char *namespace_, const json_t *object)
    __attribute__((warn_unused_result));
/* A merge patch of the object, or of its subresource ("status"; NULL for none). */
struct err *kube_server_patch(struct kube_server *server, const struct api_resource *resource,
                              const char *namespace_, const char *name, const char *subresource,
                              const json_t *patch) __attribute__((warn_unused_result));
/* As a request without options: what has finalizers stays and is marked, and so is a pod that has a
 * node. */
struct err *kube_server_delete(struct kube_server *server, const struct api_resource *resource,
                               const char *namespace_, const char *name)
    __attribute__((warn_unused_result));
/* With a grace period of 0, as kubelet does at the end of a pod; finalizers still hold it. */
struct err *kube_server_delete_now(struct kube_server *server, const struct api_resource *resource,
                                   const char *namespace_, const char *name)
    __attribute__((warn_unused_result));

/* Called after each change, whoever made it: `before` is NULL for a new object, `after` for one
 * that is gone. It must neither yield nor write. */
typedef void kube_server_observer_fn(void *ctx, const struct api_resource *resource,
                                     const json_t *before, const json_t *after);
void kube_server_observe(struct kube_server *server, kube_server_observer_fn *fn, void *ctx);

/* ---- what may be wrong with it ---- */

struct kube_server_behaviour {
    uint64_t list_lag_ms;   /* how old a list with resourceVersion=0 is, as far as history goes */
    uint64_t bookmark_ms;   /* between two bookmarks of a watch; 0: none */
    bool gone_is_a_status;  /* a watch from the forgotten past is refused by 410, not by an event */
    unsigned retry_after_s; /* of a 503 while it is away; 0: none */
    struct fault_list fault;                  /* answers that go wrong */
    const struct api_resource *denied_status; /* which no client may patch; NULL: none */
};

/* May be changed at any time; what it says holds from the next request on. */
struct kube_server_behaviour *kube_server_behaviour(struct kube_server *server);

/* How long watches of a kind wait for what happens; lists with resourceVersion=0 do too. */
void kube_server_delay_watches(struct kube_server *server, const struct api_resource *resource,
                               uint64_t ms);
/* When watches have last told of something later than it happened. */
uint64_t kube_server_late_until(const struct kube_server *server,
                                const struct api_resource *resource);
/* Forgets all history: watches and pages from before it are answered with 410. */
void kube_server_compact(struct kube_server *server);
/* Breaks the watches of a kind; NULL: of all. */
void kube_server_break_watches(struct kube_server *server, const struct api_resource *resource);
/* While it is away every request is answered with 503, and no watch lives. */
void kube_server_go_away(struct kube_server *server, bool away);
bool kube_server_is_away(const struct kube_server *server);
