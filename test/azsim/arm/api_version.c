#include "test/azsim/arm/api_version.h"

#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"

#define DISK "Microsoft.Compute/disks"
#define SNAPSHOT "Microsoft.Compute/snapshots"
#define VM "Microsoft.Compute/virtualMachines"
#define SCALE_SET "Microsoft.Compute/virtualMachineScaleSets"
#define INSTANCE "Microsoft.Compute/virtualMachineScaleSets/virtualMachines"
#define DATA_DISKS "properties.storageProfile.dataDisks"

/* "[]." in a path: of each item of a list. */
static const struct member {
    const char *type, *path, *since;
} members[] = {
    {DISK, "properties.encryption", "2019-07-01"},
    {DISK, "managedByExtended", "2019-11-01"},
    {DISK, "properties.shareInfo", "2019-11-01"},
    {DISK, "properties.maxShares", "2019-11-01"},
    {DISK, "properties.diskIOPSReadOnly", "2019-11-01"},
    {DISK, "properties.diskMBpsReadOnly", "2019-11-01"},
    {DISK, "properties.networkAccessPolicy", "2020-05-01"},
    {DISK, "properties.diskAccessId", "2020-05-01"},
    {DISK, "properties.tier", "2020-06-30"},
    {DISK, "properties.creationData.logicalSectorSize", "2020-06-30"},
    {DISK, "extendedLocation", "2020-12-01"},
    {DISK, "properties.burstingEnabled", "2020-12-01"},
    {DISK, "properties.securityProfile", "2020-12-01"},
    {DISK, "properties.supportsHibernation", "2020-12-01"},
    {DISK, "properties.publicNetworkAccess", "2021-04-01"},
    {DISK, "properties.completionPercent", "2021-04-01"},
    {DISK, "properties.supportedCapabilities", "2021-04-01"},
    {DISK, "properties.dataAccessAuthMode", "2021-12-01"},
    {DISK, "properties.optimizedForFrequentAttach", "2022-07-02"},
    {DISK, "properties.burstingEnabledTime", "2022-07-02"},
    {DISK, "properties.creationData.performancePlus", "2022-07-02"},
    {DISK, "properties.LastOwnershipUpdateTime", "2023-10-02"},
    {DISK, "properties.availabilityPolicy", "2025-01-02"},

    {SNAPSHOT, "properties.encryption", "2019-07-01"},
    {SNAPSHOT, "properties.networkAccessPolicy", "2020-05-01"},
    {SNAPSHOT, "properties.diskAccessId", "2020-05-01"},
    {SNAPSHOT, "properties.diskState", "2020-06-30"},
    {SNAPSHOT, "extendedLocation", "2020-12-01"},
    {SNAPSHOT, "properties.publicNetworkAccess", "2021-04-01"},
    {SNAPSHOT, "properties.completionPercent", "2021-04-01"},
    {SNAPSHOT, "properties.dataAccessAuthMode", "2021-12-01"},
    {SNAPSHOT, "properties.copyCompletionError", "2022-03-02"},
    {SNAPSHOT, "properties.incrementalSnapshotFamilyId", "2022-07-02"},
    {SNAPSHOT, "properties.creationData.instantAccessDurationMinutes", "2025-01-02"},
    {SNAPSHOT, "properties.snapshotAccessState", "2025-01-02"},

    {VM, DATA_DISKS "[].detachOption", "2020-12-01"},
    {VM, DATA_DISKS "[].deleteOption", "2021-03-01"},
    {VM, "properties.storageProfile.osDisk.deleteOption", "2021-03-01"},
    {VM, "properties.userData", "2021-03-01"},
    {VM, "properties.timeCreated", "2021-11-01"},
    {VM, "properties.storageProfile.diskControllerType", "2022-08-01"},
    {VM, "etag", ETAG_SINCE},
    {INSTANCE, DATA_DISKS "[].detachOption", "2020-12-01"},
    {INSTANCE, DATA_DISKS "[].deleteOption", "2021-03-01"},
    {INSTANCE, "properties.storageProfile.osDisk.deleteOption", "2021-03-01"},
    {INSTANCE, "properties.timeCreated", "2021-11-01"},
    {INSTANCE, "properties.storageProfile.diskControllerType", "2022-08-01"},
    {INSTANCE, "etag", ETAG_SINCE},
    {SCALE_SET, "properties.timeCreated", "2021-11-01"},
    {SCALE_SET, "etag", ETAG_SINCE},
};

static bool is_older(const struct exchange *exchange, const char *since)
{
    return *exchange->api_version && strcmp(exchange->api_version, since) < 0;
}

/* The list that a path leads through; `ret_rest` is the path in its items. NULL: it leads through
 * none. */
static json_t *list_of(const json_t *body, const char *path, const char **ret_rest)
{
    const char *marker = strstr(path, "[].");

    *ret_rest = path;
    if (!marker)
        return NULL;
    CLEANUP(freep) char *list = mem_strndup(path, (size_t)(marker - path));
    *ret_rest = marker + strlen("[].");
    return resource_get(body, list);
}

/* ---- requests ---- */

/* What the models of Azure call the object that a path ends in. */
static const char *object_of(const struct member *member)
{
    if (strstr(member->path, "[]."))
        return "DataDisk";
    if (strstr(member->path, ".creationData."))
        return "CreationData";
    if (strncmp(member->path, "properties.storageProfile.", 26) == 0)
        return strstr(member->path, ".osDisk.") ? "OSDisk" : "StorageProfile";
    if (strchr(member->path, '.'))
        return strcmp(member->type, DISK) == 0       ? "DiskProperties"
               : strcmp(member->type, SNAPSHOT) == 0 ? "SnapshotProperties"
                                                     : "VirtualMachineProperties";
    return "ResourceDefinition";
}

/* What their messages call the whole. */
static const char *root_of(const char *type)
{
    return strcmp(type, DISK) == 0       ? "diskDescription"
           : strcmp(type, SNAPSHOT) == 0 ? "snapshotDescription"
                                         : "vm";
}

/* Behind the first occurrence of the name and its colon, where the reader of the text stopped. */
static size_t position_of(const struct exchange *exchange, const char *name)
{
    CLEANUP(freep) char *quoted = mem_printf("\"%s\"", name);
    const char *found = strstr(exchange->call->body, quoted);

    return found ? (size_t)(found - exchange->call->body) + strlen(quoted) + 1 : 0;
}

static struct refusal *refuse_member(const struct exchange *exchange, const struct member *member,
                                     const char *path)
{
    const char *dot = strrchr(path, '.'), *name = dot ? dot + 1 : path;
    CLEANUP(freep) char *target = mem_printf("%s.%s", root_of(member->type), path);

    return refuse(400, "BadRequest", target,
                  "Could not find member '%s' on object of type '%s'. Path '%s', line 1, position "
                  "%zu.",
                  name, object_of(member), path, position_of(exchange, name));
}

static struct refusal *check_member(const struct exchange *exchange, const struct member *member,
                                    const json_t *body)
{
    const char *rest;
    const json_t *list = list_of(body, member->path, &rest);
    size_t i;
    json_t *item;

    json_array_foreach(list, i, item) {
        int length = (int)(rest - member->path - strlen("[]."));
        CLEANUP(freep) char *path = mem_printf("%.*s[%zu].%s", length, member->path, i, rest);

        if (resource_get(item, rest))
            return refuse_member(exchange, member, path);
    }
    return resource_get(body, member->path) ? refuse_member(exchange, member, member->path) : NULL;
}

struct refusal *api_version_check(const struct exchange *exchange, const char *type,
                                  const json_t *body)
{
    for (size_t i = 0; i < COUNT_OF(members); i++)
        if (strcmp(members[i].type, type) == 0 && is_older(exchange, members[i].since))
            REQUIRE(check_member(exchange, &members[i], body));
    return NULL;
}

void api_version_modernize(json_t *body)
{
    json_t *creation = resource_get(body, "properties.creationData");
    const char *option = resource_text(creation, "createOption", "");
    const char *uri = resource_text(creation, "sourceUri", NULL);
    struct resource_parts parts;

    if (strcasecmp(option, "Copy") != 0 || !uri || resource_get(creation, "sourceResourceId") ||
        !resource_parts_read(&parts, uri))
        return;
    resource_parts_fini(&parts);
    json_object_set_new(creation, "sourceResourceId", json_string(uri));
    json_object_del(creation, "sourceUri");
}

/* ---- answers ---- */

static void hide_path(json_t *resource, const char *path)
{
    const char *rest;
    json_t *list = list_of(resource, path, &rest), *item;
    size_t i;

    json_array_foreach(list, i, item)
        hide_path(item, rest);
    if (!list)
        resource_strip(resource, (const char *const[]){path, NULL});
}

/* The next row from `i` on that is to be hidden in the resource; COUNT_OF(members) if none is. */
static size_t next_hidden(const struct exchange *exchange, const json_t *resource, size_t i)
{
    const char *type = resource_text(resource, "type", "");

    while (i < COUNT_OF(members) &&
           (strcmp(members[i].type, type) != 0 || !is_older(exchange, members[i].since)))
        i++;
    return i;
}

static bool hides(const struct exchange *exchange, const json_t *resource)
{
    return next_hidden(exchange, resource, 0) < COUNT_OF(members);
}

static void hide(const struct exchange *exchange, json_t *resource)
{
    for (size_t i = 0; (i = next_hidden(exchange, resource, i)) < COUNT_OF(members); i++)
        hide_path(resource, members[i].path);
}

json_t *api_version_view(const struct exchange *exchange, json_t *answer)
{
    const json_t *output = resource_get(answer, "properties.output");
    const json_t *list = json_object_get(answer, "value"); /* its items are of one type */
    size_t i;
    json_t *item;

    if (!hides(exchange, answer) && !hides(exchange, output) &&
        !hides(exchange, json_array_get(list, 0)))
        return answer;
    json_t *view = json_deep_copy(answer); /* parts of it may be the model's */
    json_decref(answer);
    hide(exchange, view);
    hide(exchange, resource_get(view, "properties.output"));
    json_array_foreach(json_object_get(view, "value"), i, item)
        hide(exchange, item);
    return view;
}
