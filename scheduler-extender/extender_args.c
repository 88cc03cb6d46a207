#include "scheduler-extender/extender_args.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/json/codec.h"
#include "lib/json/parse.h"

/* The members of the request, where they are. A member that is null is one that is not there. */
struct members {
    struct json_piece pod, nodes, node_names;
};

static struct err *find_members(const char *text, size_t length, struct members *ret)
{
    const struct {
        const char *name;
        struct json_piece *target;
    } known[] = {{"Pod", &ret->pod}, {"Nodes", &ret->nodes}, {"NodeNames", &ret->node_names}};
    struct json_piece whole, key, value;

    TRY(json_skim(text, length, &whole));
    struct json_walk walk = json_walk_into(&whole);
    while (json_piece_is_object(&whole) && json_next_member(&walk, &key, &value))
        for (size_t i = 0; i < COUNT_OF(known); i++)
            if (key.length == strlen(known[i].name) + 2 &&
                strncasecmp(key.text + 1, known[i].name, key.length - 2) == 0 &&
                value.text[0] != 'n')
                *known[i].target = value;
    return NULL;
}

static struct err *parse_pod(struct task *self, const struct json_piece *text,
                             struct extender_args *args)
{
    CLEANUP(json_decrefp) json_t *json = NULL;
    const ProtobufCMessage *pod;

    if (!text->length)
        return err_new(ERR_INVALID, "no Pod");
    TRY(json_parse(self, text->text, text->length, &json));
    struct err *err = json_decode(&api__pod__descriptor, json, args->arena, &pod);
    if (err)
        return err_wrap(err, "Pod");
    args->pod = (const Api__Pod *)(const void *)pod;
    return NULL;
}

/* ---- nodes ---- */

static struct err *add_name(struct extender_args *args, const struct json_piece *quoted)
{
    size_t length = quoted->length - 2;
    char *name = arena_alloc(args->arena, length + 1);

    if (args->n_nodes == EXTENDER_MAX_NODES)
        return err_new(ERR_EXHAUSTED, "more than %d nodes", EXTENDER_MAX_NODES);
    memcpy(name, quoted->text + 1, length);
    ARRAY_ADD(args->names, args->n_nodes) = name;
    return NULL;
}

static struct err *read_names(const struct json_piece *list, struct extender_args *args)
{
    struct json_walk walk = json_walk_into(list);
    struct json_piece name;

    if (!json_piece_is_array(list))
        return err_new(ERR_INVALID, "NodeNames is not a list");
    while (json_next_element(&walk, &name)) {
        if (!json_piece_is_string(&name))
            return err_new(ERR_INVALID, "NodeNames[%zu] is not a string", args->n_nodes);
        TRY(add_name(args, &name));
    }
    return NULL;
}

static struct err *read_objects(const struct json_piece *nodes, struct extender_args *args)
{
    struct json_piece items, item, metadata, name;
    size_t n = 0;

    if (!json_find_member(nodes, "items", &items))
        return NULL;
    struct json_walk walk = json_walk_into(&items);
    while (json_next_element(&walk, &item)) {
        if (!json_find_member(&item, "metadata", &metadata) ||
            !json_find_member(&metadata, "name", &name) || !json_piece_is_string(&name))
            return err_new(ERR_INVALID, "Nodes.items[%zu] has no metadata.name", n);
        ARRAY_ADD(args->objects, n) = item;
        TRY(add_name(args, &name));
    }
    return NULL;
}

static struct err *read_nodes(const struct members *members, struct extender_args *args)
{
    if (members->node_names.length) {
        args->form = NODES_BY_NAME;
        return read_names(&members->node_names, args);
    }
    if (members->nodes.length) {
        args->form = NODES_WHOLE;
        return read_objects(&members->nodes, args);
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

struct err *extender_args_parse(struct task *self, const char *text, size_t length,
                                struct extender_args *ret)
{
    CLEANUP(extender_args_fini) struct extender_args args = {.arena = arena_new()};
    struct members members = {0};

    TRY(find_members(text, length, &members));
    TRY(parse_pod(self, &members.pod, &args));
    TRY(read_nodes(&members, &args));
    *ret = args;
    args = (struct extender_args){0};
    return NULL;
}
