#include "scheduler-extender/extender_args.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "scheduler-extender/pod_text.h"

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
    TRY(pod_text_read(&members.pod, args.arena, &args.pod));
    TRY(find_nodes(&members, &args));
    *ret = args;
    args = (struct extender_args){0};
    return NULL;
}
