#include "test/sim/kube/json_patch.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

/* Where an operation applies: a member of an object, or a place in a list. */
struct spot {
    json_t *in;
    char *member; /* unescaped */
    size_t place; /* of a list; its length: behind the last */
};

static void spot_fini(struct spot *spot)
{
    free(spot->member);
}

static char *unescape(const char *text, size_t length)
{
    char *copy = mem_strndup(text, length), *to = copy;

    for (const char *from = copy; *from; from++) {
        bool escaped = from[0] == '~' && (from[1] == '0' || from[1] == '1');

        *to++ = !escaped ? *from : from[1] == '1' ? '/' : '~';
        from += escaped;
    }
    *to = '\0';
    return copy;
}

/* False if it is none of the list's. */
static bool read_place(const json_t *list, const char *text, size_t *ret)
{
    char *end;

    if (strcmp(text, "-") == 0) {
        *ret = json_array_size(list);
        return true;
    }
    *ret = strtoul(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && *ret <= json_array_size(list);
}

static json_t *value_at(const struct spot *spot)
{
    return json_is_array(spot->in) ? json_array_get(spot->in, spot->place)
                                   : json_object_get(spot->in, spot->member);
}

static struct err *find_spot(json_t *json, const char *path, struct spot *ret)
{
    *ret = (struct spot){.in = json};
    for (;;) {
        if (!path || *path != '/')
            return err_new(ERR_INVALID, "a path begins with /");
        size_t length = strcspn(path + 1, "/");

        free(ret->member);
        ret->member = unescape(path + 1, length);
        path += 1 + length;
        if (json_is_array(ret->in) && !read_place(ret->in, ret->member, &ret->place))
            return err_new(ERR_INVALID, "there is no place %s", ret->member);
        if (!*path)
            return NULL;
        ret->in = value_at(ret);
        if (!json_is_object(ret->in) && !json_is_array(ret->in))
            return err_new(ERR_INVALID, "there is nothing at %s", ret->member);
    }
}

static int add(const struct spot *spot, json_t *value)
{
    return json_is_array(spot->in) ? json_array_insert(spot->in, spot->place, value)
                                   : json_object_set(spot->in, spot->member, value);
}

static int take_away(const struct spot *spot)
{
    return json_is_array(spot->in) ? json_array_remove(spot->in, spot->place)
                                   : json_object_del(spot->in, spot->member);
}

static struct err *apply_at(const struct spot *spot, const char *op, json_t *value)
{
    bool there = value_at(spot) != NULL;
    int failed = 1;

    if (strcmp(op, "test") == 0)
        failed = !(there && value && json_equal(value_at(spot), value));
    else if (strcmp(op, "add") == 0)
        failed = value ? add(spot, value) : 1;
    else if (strcmp(op, "remove") == 0)
        failed = there ? take_away(spot) : 1;
    else if (strcmp(op, "replace") == 0)
        failed = there && value ? take_away(spot) || add(spot, value) : 1;
    return failed ? err_new(ERR_INVALID, "%s does not apply at %s", op, spot->member) : NULL;
}

struct err *json_patch_apply(const json_t *json, const json_t *patch, json_t **ret)
{
    CLEANUP(json_decrefp) json_t *copy = json_deep_copy(json);
    size_t i;
    json_t *operation;

    json_array_foreach(patch, i, operation) {
        const char *op = json_string_value(json_object_get(operation, "op"));
        const char *path = json_string_value(json_object_get(operation, "path"));
        CLEANUP(spot_fini) struct spot spot = {0};

        TRY(find_spot(copy, path, &spot));
        TRY(apply_at(&spot, op ? op : "", json_object_get(operation, "value")));
    }
    *ret = TAKE_PTR(copy);
    return NULL;
}
