#include "test/azsim/model/resource.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"

enum { NAME_LENGTH = 80, PATH_LENGTH = 128 };

static const char *const provisioning_names[] = {
    [PROVISIONING_CREATING] = "Creating", [PROVISIONING_UPDATING] = "Updating",
    [PROVISIONING_DELETING] = "Deleting", [PROVISIONING_SUCCEEDED] = "Succeeded",
    [PROVISIONING_FAILED] = "Failed",
};

const char *provisioning_name(enum provisioning provisioning)
{
    return provisioning_names[provisioning];
}

bool provisioning_from_name(const char *name, enum provisioning *ret)
{
    for (size_t i = 0; i < COUNT_OF(provisioning_names); i++)
        if (strcmp(provisioning_names[i], name) == 0) {
            *ret = (enum provisioning)i;
            return true;
        }
    return false;
}

char *resource_id(const char *subscription, const char *group, const char *type, const char *name)
{
    return mem_printf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/%s/%s",
                      subscription, group, type, name);
}

char *resource_key(const char *id)
{
    char *key = mem_lower(id);
    size_t length = strlen(key);

    if (length > 0 && key[length - 1] == '/')
        key[length - 1] = '\0';
    return key;
}

bool resource_parts_read(struct resource_parts *parts, const char *id)
{
    static const char *const words[] = {"subscriptions",
                                        NULL,
                                        "resourceGroups",
                                        NULL,
                                        "providers",
                                        "Microsoft.Compute",
                                        NULL,
                                        NULL};
    char **values[] = {&parts->subscription, &parts->group, &parts->type, &parts->name};
    size_t n_values = 0;

    *parts = (struct resource_parts){0};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        size_t length = *id == '/' ? strcspn(id + 1, "/") : 0;

        if (length == 0 || (words[i] && (strncasecmp(id + 1, words[i], length) != 0 ||
                                         words[i][length] != '\0'))) {
            resource_parts_fini(parts);
            return false;
        }
        if (!words[i])
            *values[n_values++] = mem_strndup(id + 1, length);
        id += 1 + length;
    }
    if (strcmp(id, "") == 0 || strcmp(id, "/") == 0)
        return true;
    resource_parts_fini(parts);
    return false;
}

void resource_parts_fini(struct resource_parts *parts)
{
    free(parts->subscription);
    free(parts->group);
    free(parts->type);
    free(parts->name);
    *parts = (struct resource_parts){0};
}

bool resource_name_is_valid(const char *name)
{
    size_t length = strlen(name);

    if (length == 0 || length > NAME_LENGTH || !isalnum((unsigned char)name[0]))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("-._", name[i]))
            return false;
    return !strchr("-.", name[length - 1]);
}

void resource_merge(json_t *body, const json_t *change)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)change, name, value) {
        json_t *present = json_object_get(body, name);

        if (json_is_null(value))
            continue;
        if (json_is_object(value) && json_is_object(present) && strcmp(name, "tags") != 0)
            resource_merge(present, value);
        else
            json_object_set_new(body, name, json_deep_copy(value));
    }
}

void resource_strip(json_t *body, const char *const paths[])
{
    for (; *paths; paths++) {
        const char *name = strrchr(*paths, '.');
        CLEANUP(freep)
        char *parent = name ? mem_strndup(*paths, (size_t)(name - *paths)) : mem_strdup("");

        json_object_del(*parent ? resource_get(body, parent) : body, name ? name + 1 : *paths);
    }
}

json_t *resource_get(const json_t *body, const char *path)
{
    char name[PATH_LENGTH];

    while (*path && body) {
        size_t length = strcspn(path, ".");

        snprintf(name, sizeof name, "%.*s", (int)length, path);
        body = json_object_get(body, name);
        path += length + (path[length] == '.');
    }
    return json_is_null(body) ? NULL : (json_t *)(uintptr_t)body;
}

const char *resource_text(const json_t *body, const char *path, const char *fallback)
{
    const char *text = json_string_value(resource_get(body, path));

    return text ? text : fallback;
}
