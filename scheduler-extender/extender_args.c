#include "scheduler-extender/extender_args.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"

/* The members of the request, where they are. A member that is null is one that is not there. */
struct members {
    struct json_piece pod, nodes, node_names;
};

static void take_member(void *ctx, const struct json_piece *key, const struct json_piece *value)
{
    struct members *members = ctx;
    const struct {
        const char *name;
        struct json_piece *target;
    } known[] = {
        {"Pod", &members->pod}, {"Nodes", &members->nodes}, {"NodeNames", &members->node_names}};

    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (key->length == strlen(known[i].name) + 2 &&
            strncasecmp(key->text + 1, known[i].name, key->length - 2) == 0 &&
            value->text[0] != 'n')
            *known[i].target = *value;
}

/* ---- the pod ---- */

enum { LONGEST_NAME = 253 }; /* of any object */

/* A name between its quotes, as the request spells it: there is nothing to escape in one. NULL if
 * there is no such member, or if it is no name. */
static char *member_name(const struct json_piece *object, const char *name, struct arena *arena)
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
    volume->name = member_name(piece, "name", arena);
    if (has_claim) {
        volume->persistent_volume_claim =
            arena_alloc(arena, sizeof *volume->persistent_volume_claim);
        api__persistent_volume_claim_volume_source__init(volume->persistent_volume_claim);
        volume->persistent_volume_claim->claim_name = member_name(&claim, "claimName", arena);
    }
    if (is_ephemeral) {
        volume->ephemeral = arena_alloc(arena, sizeof *volume->ephemeral);
        api__ephemeral_volume_source__init(volume->ephemeral);
    }
    return volume;
}

static struct err *read_volumes(const struct json_piece *list, struct extender_args *args)
{
    Api__PodSpec *spec = args->pod->spec;
    struct json_cursor cursor = json_cursor_into(list);
    struct json_piece item;

    if (!json_piece_is_array(list))
        return err_new(ERR_INVALID, "Pod.spec.volumes is not a list");
    spec->volumes = arena_alloc(args->arena, EXTENDER_MAX_CLAIMS * sizeof(Api__Volume *));
    while (json_next_element(&cursor, &item)) {
        Api__Volume *volume = read_volume(&item, args->arena);

        if (volume && spec->n_volumes == EXTENDER_MAX_CLAIMS)
            return err_new(ERR_EXHAUSTED, "the pod has more than %d volumes with claims",
                           EXTENDER_MAX_CLAIMS);
        if (volume)
            spec->volumes[spec->n_volumes++] = volume;
    }
    return NULL;
}

static struct err *read_pod(const struct json_piece *pod, struct extender_args *args)
{
    struct json_piece metadata, spec, volumes;

    if (!pod->length)
        return err_new(ERR_INVALID, "Pod is missing");
    if (!json_piece_is_object(pod))
        return err_new(ERR_INVALID, "Pod is not an object");
    args->pod = arena_alloc(args->arena, sizeof *args->pod);
    api__pod__init(args->pod);
    if (json_find_member(pod, "metadata", &metadata)) {
        args->pod->metadata = arena_alloc(args->arena, sizeof *args->pod->metadata);
        api__object_meta__init(args->pod->metadata);
        args->pod->metadata->name = member_name(&metadata, "name", args->arena);
        args->pod->metadata->namespace_ = member_name(&metadata, "namespace", args->arena);
    }
    args->pod->spec = arena_alloc(args->arena, sizeof *args->pod->spec);
    api__pod_spec__init(args->pod->spec);
    if (!json_find_member(pod, "spec", &spec) || !json_find_member(&spec, "volumes", &volumes) ||
        volumes.text[0] == 'n')
        return NULL;
    return read_volumes(&volumes, args);
}

/* ---- nodes ---- */

static struct err *find_nodes(const struct members *members, struct extender_args *args)
{
    if (members->node_names.length) {
        args->form = NODES_BY_NAME;
        args->nodes = members->node_names;
        return json_piece_is_array(&args->nodes) ? NULL
                                                 : err_new(ERR_INVALID, "NodeNames is not a list");
    }
    if (members->nodes.length) {
        args->form = NODES_WHOLE;
        args->nodes = members->nodes;
        return json_piece_is_object(&args->nodes) ? NULL
                                                  : err_new(ERR_INVALID, "Nodes is not an object");
    }
    return NULL;
}

static struct err *add_name(struct extender_args *args, const struct json_piece *quoted)
{
    if (args->n_nodes == EXTENDER_MAX_NODES)
        return err_new(ERR_EXHAUSTED, "more than %d nodes", EXTENDER_MAX_NODES);
    ARRAY_ADD(args->names, args->n_nodes) = named_of(quoted->text + 1, quoted->length - 2);
    return NULL;
}

static struct err *read_names(struct extender_args *args)
{
    struct json_cursor cursor = json_cursor_into(&args->nodes);
    struct json_piece name;

    while (json_next_element(&cursor, &name)) {
        if (!json_piece_is_string(&name))
            return err_new(ERR_INVALID, "NodeNames[%zu] is not a string", args->n_nodes);
        TRY(add_name(args, &name));
    }
    return NULL;
}

static struct err *read_objects(struct extender_args *args)
{
    struct json_piece items, item, metadata, name;
    size_t n = 0;

    if (!json_find_member(&args->nodes, "items", &items))
        return NULL;
    struct json_cursor cursor = json_cursor_into(&items);
    while (json_next_element(&cursor, &item)) {
        if (!json_find_member(&item, "metadata", &metadata) ||
            !json_find_member(&metadata, "name", &name) || !json_piece_is_string(&name))
            return err_new(ERR_INVALID, "Nodes.items[%zu] has no metadata.name", n);
        ARRAY_ADD(args->objects, n) = item;
        TRY(add_name(args, &name));
    }
    return NULL;
}

struct err *extender_args_read_nodes(struct extender_args *args)
{
    switch (args->form) {
    case NODES_BY_NAME:
        return read_names(args);
    case NODES_WHOLE:
        return read_objects(args);
    case NODES_NONE:
        break;
    }
    return NULL;
}

/* ---- the whole ---- */

void extender_args_fini(struct extender_args *args)
{
    arena_free(args->arena);
    free(args->names);
    free(args->objects);
}

struct err *extender_args_parse(const char *text, size_t length, struct extender_args *ret)
{
    CLEANUP(extender_args_fini) struct extender_args args = {.arena = arena_new()};
    struct members members = {0};

    TRY(json_validate_members(text, length, take_member, &members));
    TRY(read_pod(&members.pod, &args));
    TRY(find_nodes(&members, &args));
    *ret = args;
    args = (struct extender_args){0};
    return NULL;
}
