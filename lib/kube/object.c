#include "lib/kube/object.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/api/known_texts.h"
#include "lib/base/alloc.h"
#include "lib/base/arena.h"
#include "lib/base/secret.h"
#include "lib/json/codec.h"

static const Api__ObjectMeta *metadata_of(const ProtobufCMessage *message)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(message->descriptor, "metadata");

    assert(field && field->descriptor == &api__object_meta__descriptor);
    return *(const Api__ObjectMeta *const *)(const void *)((const char *)message + field->offset);
}

/* NULL if it lacks a name. */
static const char *key_of(const json_t *json, struct arena *arena)
{
    const json_t *metadata = json_object_get(json, "metadata");
    const char *namespace_ = json_string_value(json_object_get(metadata, "namespace"));
    const char *name = json_string_value(json_object_get(metadata, "name"));

    if (!name)
        return NULL;
    return namespace_ ? arena_printf(arena, "%s/%s", namespace_, name) : arena_strdup(arena, name);
}

/* The object is what comes first in the arena, and the key comes before the name, which ends it. */
static struct err *decode(const ProtobufCMessageDescriptor *type, const json_t *json,
                          struct arena *arena)
{
    struct kube_object *object = arena_alloc(arena, sizeof *object);
    const char *key = key_of(json, arena);

    arena_know(arena, KNOWN_TEXTS, N_KNOWN_TEXTS);
    struct err *err = json_decode(type, json, arena, &object->message);
    if (err)
        return err_wrap(err, "%s", type->short_name);
    if (!key)
        return err_new(ERR_INVALID, "%s without metadata.name", type->short_name);
    object->references = 1;
    object->metadata = metadata_of(object->message);
    object->key = key;
    if (object->metadata->resource_version)
        object->version = strtoull(object->metadata->resource_version, NULL, 10);
    return NULL;
}

/* A cache keeps very many: each takes no more memory than it needs, which the first pass tells. */
struct err *kube_object_decode(const ProtobufCMessageDescriptor *type, const json_t *json,
                               struct kube_object **ret)
{
    CLEANUP(secret_free_blockp) void *paper = mem_alloc(ARENA_SHARES);
    CLEANUP(arena_freep) struct arena *draft = arena_new_in(paper, ARENA_SHARES);

    TRY(decode(type, json, draft));
    CLEANUP(secret_free_blockp) void *memory = mem_alloc(arena_used(draft));
    CLEANUP(arena_freep) struct arena *exact = arena_new_in(memory, arena_used(draft));
    TRY(decode(type, json, exact));
    assert(arena_bytes(exact) == 0);
    *ret = TAKE_PTR(memory);
    return NULL;
}

struct kube_object *kube_digest_new(const struct kube_object *of, size_t size)
{
    static const Api__ObjectMeta no_metadata = API__OBJECT_META__INIT;
    size_t key_size = strlen(of->key) + 1;
    struct kube_object *object = mem_alloc(sizeof *object + size + key_size);

    *object = (struct kube_object){
        .references = 1,
        .metadata = &no_metadata,
        .key = memcpy(object->digest + size, of->key, key_size),
        .version = of->version,
    };
    return object;
}

struct kube_object *kube_object_ref(struct kube_object *object)
{
    object->references++;
    return object;
}

void kube_object_unref(struct kube_object *object)
{
    if (object && --object->references == 0)
        secret_free_block(object);
}

const char *kube_label(const Api__ObjectMeta *metadata, const char *key)
{
    return KUBE_MAP_GET(metadata->labels, metadata->n_labels, key);
}

const char *kube_annotation(const Api__ObjectMeta *metadata, const char *key)
{
    return KUBE_MAP_GET(metadata->annotations, metadata->n_annotations, key);
}

bool kube_is_deleting(const Api__ObjectMeta *metadata)
{
    return metadata->deletion_timestamp != NULL;
}

bool kube_has_finalizer(const Api__ObjectMeta *metadata, const char *finalizer)
{
    for (size_t i = 0; i < metadata->n_finalizers; i++)
        if (strcmp(metadata->finalizers[i], finalizer) == 0)
            return true;
    return false;
}

json_t *kube_finalizer_json(const Api__ObjectMeta *metadata, const char *finalizer, bool present)
{
    json_t *finalizers = json_array();

    for (size_t i = 0; i < metadata->n_finalizers; i++)
        if (strcmp(metadata->finalizers[i], finalizer) != 0)
            json_array_append_new(finalizers, json_string(metadata->finalizers[i]));
    if (present)
        json_array_append_new(finalizers, json_string(finalizer));
    return json_pack("{s:{s:o}}", "metadata", "finalizers", finalizers);
}

char *kube_key(const char *namespace_, const char *name)
{
    return namespace_ ? mem_printf("%s/%s", namespace_, name) : mem_strdup(name);
}
