/* object.h - an object of the API server, as it was read.
 *
 * Objects are immutable and counted: the cache replaces them, readers keep what they looked at for
 * as long as they hold a reference, across yields too. They are changed by patches (client.h),
 * never by writing a decoded object back. Loop's thread.
 */
#pragma once

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "lib/api/kubernetes.pb-c.h"
#include "lib/base/cleanup.h"
#include "lib/base/err.h"

/* In one block of memory, with all that it points to; that is emptied at its end, as it may be a
 * Secret. */
struct kube_object {
    unsigned references;
    const ProtobufCMessage *message; /* NULL of a digest */
    const Api__ObjectMeta *metadata; /* a digest's is empty */
    const char *key;                 /* "namespace/name", or "name" without a namespace */
    uint64_t version;                /* resourceVersion as a number, to tell older from newer */
    _Alignas(uint64_t) char digest[];
};

/* One reference, the caller's. INVALID if it is not of the type or lacks its name. */
struct err *kube_object_decode(const ProtobufCMessageDescriptor *type, const json_t *json,
                               struct kube_object **ret) __attribute__((warn_unused_result));

struct kube_object *kube_object_ref(struct kube_object *object);
void kube_object_unref(struct kube_object *object); /* NULL is fine */
DEFINE_CLEANUP(struct kube_object, kube_object_unref)

/* What a program keeps of an object in its stead, where it has very many and asks each for little:
 * one block of memory with key, version and `size` bytes of the program's own, `digest`, zeroed.
 * One reference, the caller's. */
struct kube_object *kube_digest_new(const struct kube_object *of, size_t size)
    __attribute__((warn_unused_result));
/* The program's bytes as their own type. */
#define KUBE_DIGEST(type, object) ((const type *)(const void *)(object)->digest)

/* The message as its own type: KUBE_AS(Api__Node, object)->spec */
#define KUBE_AS(type, object) ((const type *)(const void *)(object)->message)

/* The value of a key in a map field of the given message type's entries; NULL if absent. */
#define KUBE_MAP_GET(entries, n, wanted)                                                           \
    ({                                                                                             \
        const char *found_ = NULL;                                                                 \
        for (size_t i_ = 0; i_ < (n) && !found_; i_++)                                             \
            if (strcmp((entries)[i_]->key, (wanted)) == 0)                                         \
                found_ = (entries)[i_]->value;                                                     \
        found_;                                                                                    \
    })

const char *kube_label(const Api__ObjectMeta *metadata, const char *key);
const char *kube_annotation(const Api__ObjectMeta *metadata, const char *key);
bool kube_is_deleting(const Api__ObjectMeta *metadata);
bool kube_has_finalizer(const Api__ObjectMeta *metadata, const char *finalizer);
/* A merge patch by which the object has this finalizer, or has it no more; the others stay. */
json_t *kube_finalizer_json(const Api__ObjectMeta *metadata, const char *finalizer, bool present);

/* "namespace/name"; `namespace_` may be NULL. free() it. */
char *kube_key(const char *namespace_, const char *name) __attribute__((warn_unused_result));
