#include "test/azsim/model/vm_spec.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "test/azsim/model/resource.h"

static const char *const members[] = {"name",           "resourceName",     "size",
                                      "zone",           "identity",         "ultraDisks",
                                      "subscriptionId", "resourceGroup",    "scaleSet",
                                      "instanceId",     "networkNamespace", "deviceDirectory"};

static struct err *unknown_member(const char *path, const char *name)
{
    struct buffer names = {.limit = 4096};

    for (size_t i = 0; i < COUNT_OF(members); i++)
        buffer_printf(&names, " %s", members[i]);
    struct err *err =
        err_new(ERR_INVALID, "%s.%s: unknown member; there are%s", path, name, names.data);
    buffer_fini(&names);
    return err;
}

static struct err *check_members(const json_t *json, const char *path)
{
    const char *name;
    json_t *value;

    if (!json_is_object(json))
        return err_new(ERR_INVALID, "%s: expected an object", path);
    json_object_foreach((json_t *)(uintptr_t)json, name, value) {
        bool known = false;

        for (size_t i = 0; i < COUNT_OF(members); i++)
            known |= strcmp(members[i], name) == 0;
        if (!known)
            return unknown_member(path, name);
        if (strcmp(name, "ultraDisks") == 0) {
            if (!json_is_boolean(value))
                return err_new(ERR_INVALID, "%s.%s: expected true or false", path, name);
            continue;
        }
        if (!json_is_string(value))
            return err_new(ERR_INVALID, "%s.%s: expected a string", path, name);
    }
    return NULL;
}

static struct err *check_name(const json_t *json, const char *path, const char *member)
{
    const char *name = json_string_value(json_object_get(json, member));

    if (name && (!resource_name_is_valid(name) || strlen(name) > 64))
        return err_new(ERR_INVALID,
                       "%s.%s: \"%s\" is not a name of 1 to 64 letters, digits, '-', '.' and '_'",
                       path, member, name);
    return NULL;
}

static struct err *check_names(const json_t *json, const char *path)
{
    if (!json_object_get(json, "name"))
        return err_new(ERR_INVALID, "%s.name: missing", path);
    if (json_object_get(json, "resourceName") && json_object_get(json, "instanceId"))
        return err_new(ERR_INVALID,
                       "%s.resourceName: an instance of a uniform scale set is named by the scale "
                       "set and its instanceId",
                       path);
    TRY(check_name(json, path, "name"));
    return check_name(json, path, "resourceName");
}

static struct err *read_size(const char *name, const char *path, const struct vm_size **ret)
{
    size_t n;
    const struct vm_size *sizes = vm_sizes(&n);
    struct buffer names = {.limit = 4096};

    *ret = name ? vm_size_find(name) : NULL;
    if (*ret)
        return NULL;
    for (size_t i = 0; i < n; i++)
        buffer_printf(&names, " %s", sizes[i].name);
    struct err *err = err_new(ERR_INVALID, "%s.size: \"%s\" is no known size; there are%s", path,
                              name ? name : "", names.data);
    buffer_fini(&names);
    return err;
}

static struct err *check_zone(const char *zone, const char *path)
{
    if (zone && (strlen(zone) > 1 || !strchr("123", zone[0])))
        return err_new(ERR_INVALID, "%s.zone: \"%s\" is not one of \"1\", \"2\", \"3\" and \"\"",
                       path, zone);
    return NULL;
}

static struct err *check_scale_set(const json_t *json, const char *path)
{
    const char *scale_set = json_string_value(json_object_get(json, "scaleSet"));
    const char *instance = json_string_value(json_object_get(json, "instanceId"));

    if (scale_set && !resource_name_is_valid(scale_set))
        return err_new(ERR_INVALID, "%s.scaleSet: \"%s\" is not a name of a resource", path,
                       scale_set);
    if (instance && !scale_set)
        return err_new(ERR_INVALID, "%s.instanceId: it needs a scaleSet", path);
    if (instance &&
        (strlen(instance) > 9 || instance[strspn(instance, "0123456789")] || !*instance))
        return err_new(ERR_INVALID, "%s.instanceId: \"%s\" is not a number", path, instance);
    return NULL;
}

static struct err *check_path(const json_t *json, const char *path, const char *member)
{
    const char *value = json_string_value(json_object_get(json, member));

    if (value && value[0] != '/')
        return err_new(ERR_INVALID, "%s.%s: \"%s\" is not an absolute path", path, member, value);
    return NULL;
}

struct err *vm_spec_read(const json_t *json, const char *path, struct vm_spec *ret)
{
    const struct vm_size *size;

    TRY(check_members(json, path));
    const char *zone = json_string_value(json_object_get(json, "zone"));
    const char *identity = json_string_value(json_object_get(json, "identity"));

    TRY(check_names(json, path));
    TRY(read_size(json_string_value(json_object_get(json, "size")), path, &size));
    TRY(check_zone(zone, path));
    if (identity && strcmp(identity, "system") != 0)
        return err_new(ERR_INVALID, "%s.identity: \"%s\" is not \"system\"", path, identity);
    TRY(check_scale_set(json, path));
    TRY(check_path(json, path, "networkNamespace"));
    TRY(check_path(json, path, "deviceDirectory"));

    *ret = (struct vm_spec){
        .name = mem_strdup(json_string_value(json_object_get(json, "name"))),
        .resource_name = mem_strdup(json_string_value(json_object_get(json, "resourceName"))),
        .size = size,
        .zone = mem_strdup(zone ? zone : ""),
        .identity = identity != NULL,
        .ultra_disks = json_is_true(json_object_get(json, "ultraDisks")),
        .subscription_id = mem_strdup(json_string_value(json_object_get(json, "subscriptionId"))),
        .resource_group = mem_strdup(json_string_value(json_object_get(json, "resourceGroup"))),
        .scale_set = mem_strdup(json_string_value(json_object_get(json, "scaleSet"))),
        .instance_id = mem_strdup(json_string_value(json_object_get(json, "instanceId"))),
        .network_namespace =
            mem_strdup(json_string_value(json_object_get(json, "networkNamespace"))),
        .device_directory = mem_strdup(json_string_value(json_object_get(json, "deviceDirectory"))),
    };
    return NULL;
}

json_t *vm_spec_json(const struct vm_spec *spec)
{
    json_t *json =
        json_pack("{s:s, s:s*, s:s, s:s, s:s*, s:s*, s:s*, s:s*, s:s*, s:s*}", "name", spec->name,
                  "resourceName", spec->resource_name, "size", spec->size->name, "zone", spec->zone,
                  "subscriptionId", spec->subscription_id, "resourceGroup", spec->resource_group,
                  "scaleSet", spec->scale_set, "instanceId", spec->instance_id, "networkNamespace",
                  spec->network_namespace, "deviceDirectory", spec->device_directory);

    if (spec->ultra_disks)
        json_object_set_new(json, "ultraDisks", json_true());
    if (spec->identity)
        json_object_set_new(json, "identity", json_string("system"));
    return json;
}

void vm_spec_fini(struct vm_spec *spec)
{
    free(spec->name);
    free(spec->resource_name);
    free(spec->zone);
    free(spec->subscription_id);
    free(spec->resource_group);
    free(spec->scale_set);
    free(spec->instance_id);
    free(spec->network_namespace);
    free(spec->device_directory);
    *spec = (struct vm_spec){0};
}
