#include "scheduler-extender/pod_text.h"

#include <string.h>

#include "lib/base/alloc.h"

enum { LONGEST_NAME = 253 }; /* of any object */

char *text_name(const struct json_piece *object, const char *name, struct arena *arena)
{
    struct json_piece value;

    if (!json_find_member(object, name, &value) || !json_piece_is_string(&value) ||
        value.length > LONGEST_NAME + 2)
        return NULL;
    char *text = arena_alloc(arena, value.length - 1);
    memcpy(text, value.text + 1, value.length - 2);
    return text;
}

/* NULL if it has no claim. */
static Api__Volume *read_volume(const struct json_piece *piece, struct arena *arena)
{
    struct json_piece claim, ephemeral;
    bool has_claim = json_find_member(piece, "persistentVolumeClaim", &claim);
    bool is_ephemeral =
        json_find_member(piece, "ephemeral", &ephemeral) && json_piece_is_object(&ephemeral);

    if (!has_claim && !is_ephemeral)
        return NULL;
    Api__Volume *volume = arena_alloc(arena, sizeof *volume);
    api__volume__init(volume);
    volume->name = text_name(piece, "name", arena);
    if (has_claim) {
        volume->persistent_volume_claim =
            arena_alloc(arena, sizeof *volume->persistent_volume_claim);
        api__persistent_volume_claim_volume_source__init(volume->persistent_volume_claim);
        volume->persistent_volume_claim->claim_name = text_name(&claim, "claimName", arena);
    }
    if (is_ephemeral) {
        volume->ephemeral = arena_alloc(arena, sizeof *volume->ephemeral);
        api__ephemeral_volume_source__init(volume->ephemeral);
    }
    return volume;
}

static struct err *read_volumes(const struct json_piece *list, struct arena *arena,
                                Api__PodSpec *spec)
{
    struct json_cursor cursor = json_cursor_into(list);
    struct json_piece item;

    if (!json_piece_is_array(list))
        return err_new(ERR_INVALID, "Pod.spec.volumes is not a list");
    spec->volumes = arena_alloc(arena, POD_MAX_CLAIMS * sizeof(Api__Volume *));
    while (json_next_element(&cursor, &item)) {
        Api__Volume *volume = read_volume(&item, arena);

        if (volume && spec->n_volumes == POD_MAX_CLAIMS)
            return err_new(ERR_EXHAUSTED, "the pod has more than %d volumes with claims",
                           POD_MAX_CLAIMS);
        if (volume)
            spec->volumes[spec->n_volumes++] = volume;
    }
    return NULL;
}

static void read_names(const struct json_piece *pod, struct arena *arena, Api__Pod *ret)
{
    struct json_piece metadata;

    if (!json_find_member(pod, "metadata", &metadata))
        return;
    ret->metadata = arena_alloc(arena, sizeof *ret->metadata);
    api__object_meta__init(ret->metadata);
    ret->metadata->name = text_name(&metadata, "name", arena);
    ret->metadata->namespace_ = text_name(&metadata, "namespace", arena);
}

struct err *pod_text_read(const struct json_piece *text, struct arena *arena, Api__Pod **ret)
{
    struct json_piece spec, volumes;

    if (!text->length)
        return err_new(ERR_INVALID, "Pod is missing");
    if (!json_piece_is_object(text))
        return err_new(ERR_INVALID, "Pod is not an object");
    Api__Pod *pod = arena_alloc(arena, sizeof *pod);
    api__pod__init(pod);
    read_names(text, arena, pod);
    pod->spec = arena_alloc(arena, sizeof *pod->spec);
    api__pod_spec__init(pod->spec);
    *ret = pod;
    if (!json_find_member(text, "spec", &spec) || !json_find_member(&spec, "volumes", &volumes) ||
        volumes.text[0] == 'n')
        return NULL;
    return read_volumes(&volumes, arena, pod->spec);
}
