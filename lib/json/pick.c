#include "lib/json/pick.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static void pick_path(const json_t *from, json_t *to, const char *path)
{
    bool is_name = json_object_get(from, path) != NULL; /* all that is left of the path */
    size_t length = is_name ? strlen(path) : strcspn(path, ".");
    json_t *value = json_object_getn(from, path, length);

    if (!value)
        return;
    if (!path[length] || !json_is_object(value)) {
        json_object_setn(to, path, length, value);
        return;
    }
    json_t *inner = json_object_getn(to, path, length);
    if (!inner) {
        inner = json_object();
        json_object_setn_new(to, path, length, inner);
    }
    pick_path(value, inner, path + length + 1);
}

json_t *json_pick(const json_t *json, const char *const *paths)
{
    json_t *picked = json_object();

    for (; *paths; paths++)
        pick_path(json, picked, *paths);
    return picked;
}
