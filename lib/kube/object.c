#include "lib/kube/object.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/json/codec.h"

static const Api__ObjectMeta *metadata_of(const ProtobufCMessage *message)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(message->descriptor, "metadata");

    assert(field && field->descriptor == &api__object_meta__descriptor);
    return *(const Api__ObjectMeta *const *)(const void *)((const char *)message + field->offset);
}

static struct err *decode(const ProtobufCMessageDescriptor *type, const json_t *json,
                          struct arena *arena, struct kube_object **ret)
{
    const ProtobufCMessage *message;

    struct err *err = json_decode(type, json, arena, &message);
    if (err)
        return err_wrap(err, "%s", type->short_name);

    const Api__ObjectMeta *metadata = metadata_of(message);
    if (!metadata || !metadata->name)
        return err_new(ERR_INVALID, "%s without metadata.name", type->short_name);

    struct kube_object *object = arena_alloc(arena, sizeof *object);
    *object = (struct kube_object){
        .references = 1,
        .message = message,
        .metadata = metadata,
        .key = metadata->namespace_
                   ? arena_printf(arena, "%s/%s", metadata->namespace_, metadata->name)
                   : metadata->name,
        .version = metadata->resource_version ? strtoull(metadata->resource_version, NULL, 10) : 0,
    };
    *ret = object;
    return NULL;
}

/* A cache keeps very many: each takes no more memory than it needs, which the first pass tells. */
struct err *kube_object_decode(const ProtobufCMessageDescriptor *type, const json_t *json,
                               struct kube_object **ret)
{
    CLEANUP(arena_freep) struct arena *draft = arena_new();

    TRY(decode(type, json, draft, ret));
    CLEANUP(arena_freep) struct arena *exact = arena_new_sized(arena_used(draft));
    TRY(decode(type, json, exact, ret));
    (*ret)->arena = TAKE_PTR(exact);
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
    if (!object || --object->references > 0)
        return;
    if (object->arena)
        arena_free(object->arena);
    else
        free(object);
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
