#include "test/azsim/model/group.h"

#include <ctype.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "test/azsim/model/access.h"
#include "test/azsim/model/region.h"
#include "test/azsim/model/scale_set.h"
#include "test/azsim/model/snapshot.h"
#include "test/azsim/model/vm.h"

enum { MAX_NAME = 90, MAX_LIST = 64 * 1024 };

static bool is_allowed(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("-_.()", c));
}

bool group_name_is_valid(const char *name)
{
    size_t length = strlen(name), n = 0;

    while (is_allowed(name[n]))
        n++;
    return length > 0 && length <= MAX_NAME && n == length && name[length - 1] != '.';
}

char *group_id(const struct group *group)
{
    return mem_printf("/subscriptions/%s/resourceGroups/%s", group->subscription->id, group->name);
}

struct group *group_find(const struct model *model, const char *key)
{
    for (size_t i = 0; i < model->n_groups; i++)
        if (!model->groups[i]->gone && strcmp(model->groups[i]->key, key) == 0)
            return model->groups[i];
    return NULL;
}

struct refusal *group_check_alive(const struct group *group)
{
    return group->deletion ? refuse(GROUP_BEING_DELETED, group->name) : NULL;
}

void group_restore(struct group *group, json_t *body, bool gone)
{
    json_decref(group->body);
    group->body = body;
    group->gone = gone;
    group->is_changed = true;
}

const char *group_location(const struct group *group)
{
    return resource_text(group->body, "location", group->model->location);
}

/* ---- make and change ---- */

struct refusal *group_check_name(const char *name)
{
    struct buffer wrong = {.limit = MAX_LIST};

    if (group_name_is_valid(name))
        return NULL;
    for (const char *c = name; *c; c++)
        if (!is_allowed(*c))
            buffer_printf(&wrong, "%c", *c);
    CLEANUP(freep) char *characters = buffer_take(&wrong);
    return refuse(GROUP_NAME_INVALID, name, *characters ? characters : ".");
}

static struct refusal *check_location(const struct model *model, const struct group *group,
                                      const json_t *body)
{
    const char *location = resource_text(body, "location", NULL);

    if (!location)
        return refuse(LOCATION_REQUIRED);
    if (group)
        return region_is_same(group_location(group), location)
                   ? NULL
                   : refuse(GROUP_LOCATION_DIFFERS, location, group_location(group));
    if (region_find(model, location))
        return NULL;
    CLEANUP(freep) char *list = region_list(model);
    return refuse(GROUP_LOCATION_NOT_AVAILABLE, location, list);
}

static void change(struct model *model, struct group *group, const json_t *body)
{
    static const char *const members[] = {"tags", "managedBy"};

    for (size_t i = 0; i < COUNT_OF(members); i++) {
        json_t *value = resource_get(body, members[i]);

        if (value)
            json_object_set_new(group->body, members[i], json_deep_copy(value));
    }
    group->is_changed = true;
    model_changed_group(model, group);
    model_commit(model);
}

struct refusal *group_put(struct model *model, const struct subscription *subscription,
                          const char *name, const json_t *body, struct group **ret, bool *ret_new)
{
    struct group *group = model_find_group_of(model, subscription, name);

    REQUIRE(group_check_name(name));
    REQUIRE(check_location(model, group, body));
    *ret_new = !group;
    if (group)
        REQUIRE(group_check_alive(group));
    else if (model->n_groups == MODEL_MAX_GROUPS)
        return refuse(GROUP_QUOTA_EXCEEDED, subscription->id, MODEL_MAX_GROUPS);
    else
        group = model_add_group_to(model, subscription, name);
    const char *location = region_find(model, resource_text(body, "location", NULL));
    json_object_clear(group->body);
    json_object_set_new(group->body, "location", json_string(location));
    change(model, group, body);
    *ret = group;
    return NULL;
}

struct refusal *group_patch(struct group *group, const json_t *body)
{
    REQUIRE(group_check_alive(group));
    change(group->model, group, body);
    return NULL;
}

/* ---- delete ---- */

struct operation *group_delete(struct group *group)
{
    struct model *model = group->model;

    if (!group->deletion) {
        group->deletion = operation_start(model, OPERATION_GROUP_DELETE, group->key,
                                          model_draw(model, LATENCY_DELETE));
        group->is_changed = true;
        model_changed_group(model, group);
        model_commit(model);
    }
    return group->deletion;
}

static void preempt(struct operation *operation)
{
    if (operation)
        operation_end(operation, refuse(OPERATION_PREEMPTED));
}

/* What of the group goes without asking. */
static void remove_vms_and_snapshots(struct group *group)
{
    struct model *model = group->model;

    HASH_FOREACH(model->vms, vm) {
        if (vm->group != group)
            continue;
        preempt(vm->operation);
        vm_remove(vm);
    }
    HASH_FOREACH(model->scale_sets, set) {
        if (set->group != group)
            continue;
        preempt(set->operation);
        model_gone(model, "scaleSets", set->key);
        scale_set_free(set);
    }
    HASH_FOREACH(model->snapshots, snapshot) {
        if (snapshot->group != group)
            continue;
        preempt(snapshot->operation);
        snapshot_remove(snapshot);
    }
}

/* A disk goes unless somebody has it: then its deletion is refused, as a client's would be. */
static struct refusal *remove_disk(struct disk *disk)
{
    preempt(disk->operation);
    if (disk_owner(disk))
        return refuse(DISK_ATTACHED, disk->name, disk_owner(disk)->id);
    if (disk_is_accessed(disk))
        return refuse(ACCESS_IS_GRANTED, "disk", disk->name);
    disk_remove(disk);
    return NULL;
}

/* {"target", "message"}: the whole answer of the other provider is the message. */
static json_t *detail(const struct disk *disk, const struct refusal *refusal)
{
    CLEANUP(json_decrefp) json_t *error = json_pack("{s:o}", "error", refusal_json(refusal));
    CLEANUP(freep) char *text = json_dumps(error, JSON_COMPACT);

    return json_pack("{s:s, s:s}", "target", disk->id, "message", text);
}

/* The refusal of those that stay; NULL if none does. */
static struct refusal *remove_disks(struct group *group)
{
    struct buffer names = {.limit = MAX_LIST};
    json_t *details = json_array();
    char tracking[UUID_SIZE];

    HASH_FOREACH(group->model->disks, disk) {
        CLEANUP(refusal_freep)
        struct refusal *refusal = disk->group == group ? remove_disk(disk) : NULL;

        if (!refusal)
            continue;
        buffer_printf(&names, "%sMicrosoft.Compute/disks/%s", names.length ? ", " : "", disk->name);
        json_array_append_new(details, detail(disk, refusal));
    }
    CLEANUP(freep) char *list = buffer_take(&names);
    if (json_array_size(details) == 0) {
        json_decref(details);
        return NULL;
    }
    random_uuid(loop_random(group->model->loop), tracking);
    return refusal_with_details(refuse(GROUP_DELETION_BLOCKED, group->name, list, tracking),
                                details);
}

struct refusal *group_operation_due(struct operation *operation)
{
    struct group *group = group_find(operation->model, operation->target);

    remove_vms_and_snapshots(group);
    REQUIRE(remove_disks(group));
    group->gone = true;
    return NULL;
}

/* By a fault too, which leaves everything as it was. */
void group_operation_ended(struct operation *operation)
{
    struct model *model = operation->model;

    for (size_t i = 0; i < model->n_groups; i++) {
        struct group *group = model->groups[i];

        if (group->deletion != operation)
            continue;
        group->deletion = NULL;
        model_changed_group(model, group);
    }
}
