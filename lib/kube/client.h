/* client.h - requests to the Kubernetes API server.
 *
 * Everything goes through the transport, so that a simulation can stand in for the server. Answers
 * that are not successes become errors whose kind tells what to do (NOT_FOUND, EXISTS, CONFLICT,
 * THROTTLED, ...) and whose code is the server's reason. NOT_FOUND means the object, and has the
 * code KUBE_NO_SUCH_OBJECT, because its reason is a word of Azure's as well; a server that does not
 * know the kind of object is UNAVAILABLE, with the code KUBE_NO_SUCH_KIND. Writes are creates,
 * patches and deletes; a patch that carries metadata.resourceVersion fails with CONFLICT if the
 * object has changed. INVALID, with nothing sent, if a name or a token is too long for a URL.
 *
 * A rejected token is had anew, from its file or its plug-in, and the request tried once more. What
 * the server refuses because it has too much to do (HTTP 429) is asked for again when it says, up
 * to ten times and for as long as a call may take; only a watch is not. No other request is
 * repeated here. Loop's thread; every call yields.
 */
#pragma once

#include <jansson.h>

#include "lib/api/resources.h"
#include "lib/http/transport.h"
#include "lib/kube/config.h"
#include "lib/kube/object.h"
#include "lib/rt/loop.h"

enum {
    KUBE_CALL_TIMEOUT_MS = 30 * 1000,
    KUBE_LARGEST_LIST = 64 * 1024 * 1024, /* most bytes of a page */
};

#define KUBE_NO_SUCH_KIND "NoSuchKind"
#define KUBE_NO_SUCH_OBJECT "NoSuchObject"
#define KUBE_INTERNAL_ERROR "InternalError"

struct kube;

/* Keeps what it needs of `config`, but for its plug-in and its impersonation, which must outlive
 * the client, as `transport` must. */
struct kube *kube_new(struct loop *loop, struct http_transport *transport,
                      const struct kube_config *config);
/* The same server and account, for calls that are of no use after `timeout_ms`, which is less than
 * KUBE_CALL_TIMEOUT_MS: they do not queue for a connection behind a thousand others. */
struct kube *kube_urgent(const struct kube *kube, uint64_t timeout_ms);
void kube_free(struct kube *kube);
DEFINE_CLEANUP(struct kube, kube_free)

/* `namespace_` is NULL for resources without one. `ret` may be NULL where the caller does not need
 * the object. */
struct err *kube_get(struct task *self, struct kube *kube, const struct api_resource *resource,
                     const char *namespace_, const char *name, struct kube_object **ret)
    __attribute__((warn_unused_result));

/* `object` needs neither apiVersion nor kind. */
struct err *kube_create(struct task *self, struct kube *kube, const struct api_resource *resource,
                        const char *namespace_, const json_t *object, struct kube_object **ret)
    __attribute__((warn_unused_result));

/* A JSON merge patch (RFC 7386) of the object, or of its subresource ("status"; NULL for none). */
struct err *kube_patch(struct task *self, struct kube *kube, const struct api_resource *resource,
                       const char *namespace_, const char *name, const char *subresource,
                       const json_t *patch, struct kube_object **ret)
    __attribute__((warn_unused_result));

/* A JSON patch (RFC 6902), of which the server does all or nothing; INVALID if a test in it fails.
 */
struct err *kube_json_patch(struct task *self, struct kube *kube,
                            const struct api_resource *resource, const char *namespace_,
                            const char *name, const json_t *patch)
    __attribute__((warn_unused_result));

/* Only that very object: CONFLICT if the name has another uid by now. `uid` NULL: whatever it is.
 */
struct err *kube_delete(struct task *self, struct kube *kube, const struct api_resource *resource,
                        const char *namespace_, const char *name, const char *uid)
    __attribute__((warn_unused_result));

/* A pod at once, without waiting for kubelet to end what runs in it. */
struct err *kube_delete_pod_now(struct task *self, struct kube *kube, const char *namespace_,
                                const char *name, const char *uid)
    __attribute__((warn_unused_result));

/* A pod by the Eviction API, only that very one (CONFLICT). THROTTLED while a PodDisruptionBudget
 * does not allow it, which is not waited for here. */
struct err *kube_evict(struct task *self, struct kube *kube, const char *namespace_,
                       const char *name, const char *uid) __attribute__((warn_unused_result));

/* Only while it is as it is here: CONFLICT if anybody has written to it since. One that is gone
 * already is a success. */
struct err *kube_delete_unchanged(struct task *self, struct kube *kube,
                                  const struct api_resource *resource,
                                  const struct kube_object *object)
    __attribute__((warn_unused_result));

/* ---- for reflector.c and pages.c ---- */

struct kube_query {
    const char *label_selector, *field_selector; /* NULL: all */
    const char *resource_version;                /* NULL: the newest; "0": any */
    const char *continue_token;                  /* of a further page; NULL: the first */
    bool metadata_only;                          /* of each object */
    unsigned limit;                              /* of a page; 0: none */
    unsigned timeout_seconds;                    /* of a watch */
};

/* A page of a list, as JSON; EXHAUSTED if it is larger than KUBE_LARGEST_LIST. */
struct err *kube_list_page(struct task *self, struct kube *kube,
                           const struct api_resource *resource, const char *namespace_,
                           const struct kube_query *query, json_t **ret_list)
    __attribute__((warn_unused_result));

/* Events as lines of JSON. */
struct err *kube_watch(struct task *self, struct kube *kube, const struct api_resource *resource,
                       const char *namespace_, const struct kube_query *query,
                       struct http_stream **ret_stream) __attribute__((warn_unused_result));

/* The server does not know the kind of object: its definition is missing, or not served yet. */
bool kube_is_no_such_kind(const struct err *err);
/* It knows the kind, and has no such object. */
bool kube_is_no_such_object(const struct err *err);
/* The server has failed at this request: it, or a webhook that it has asked (HTTP 500). */
bool kube_is_internal_error(const struct err *err);

/* The error that a Status object says. */
struct err *kube_status_err(int http_status, const json_t *json)
    __attribute__((warn_unused_result));
