#include "test/azsim/model/model.h"

#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/attachment.h"
#include "test/azsim/model/fault.h"
#include "test/azsim/model/group.h"
#include "test/azsim/model/record.h"
#include "test/azsim/model/region.h"
#include "test/azsim/model/scale_set.h"
#include "test/azsim/model/snapshot.h"
#include "test/azsim/model/throttle.h"

struct model *model_new(const struct model_config *config)
{
    struct model *model = mem_alloc(sizeof *model);

    model->loop = config->loop;
    model->tenant_id = mem_strdup(config->tenant_id);
    model->location = mem_strdup(config->location);
    model->devices = config->devices;
    model->devices_ctx = config->devices_ctx;
    model->commit = config->commit;
    model->commit_ctx = config->commit_ctx;
    model->removed_vms = json_object();
    latencies_init(&model->latencies);
    settings_init(&model->settings);
    model->throttle = throttle_new();
    model->faults = faults_new();
    list_init(&model->ended_operations);
    model_add_subscription(model, config->subscription_id);
    return model;
}

void model_free(struct model *model)
{
    if (!model)
        return;
    HASH_FOREACH(model->operations, operation) {
        operation_free(operation);
    }
    HASH_FOREACH(model->vms, vm) {
        vm_free(vm);
    }
    HASH_FOREACH(model->scale_sets, set) {
        scale_set_free(set);
    }
    HASH_FOREACH(model->snapshots, snapshot) {
        snapshot_free(snapshot);
    }
    HASH_FOREACH(model->disks, disk) {
        disk_free(disk);
    }
    for (size_t i = 0; i < model->n_groups; i++) {
        free(model->groups[i]->name);
        free(model->groups[i]->key);
        json_decref(model->groups[i]->body);
        free(model->groups[i]);
    }
    for (size_t i = 0; i < model->n_subscriptions; i++)
        free(model->subscriptions[i].id);
    throttle_free(model->throttle);
    faults_free(model->faults);
    json_decref(model->removed_vms);
    json_decref(model->changes);
    free(model->tenant_id);
    free(model->location);
    free(model);
}

/* ---- subscriptions and groups ---- */

const struct subscription *model_find_subscription(const struct model *model, const char *id)
{
    for (size_t i = 0; i < model->n_subscriptions; i++)
        if (strcasecmp(model->subscriptions[i].id, id) == 0)
            return &model->subscriptions[i];
    return NULL;
}

const struct subscription *model_add_subscription(struct model *model, const char *id)
{
    const struct subscription *present = model_find_subscription(model, id);

    if (present)
        return present;
    if (model->n_subscriptions == MODEL_MAX_SUBSCRIPTIONS)
        abort();
    struct subscription *subscription = &model->subscriptions[model->n_subscriptions++];
    subscription->id = mem_strdup(id);
    return subscription;
}

/* One that is gone, too. */
static struct group *find_place(const struct model *model, const struct subscription *subscription,
                                const char *name)
{
    for (size_t i = 0; i < model->n_groups; i++)
        if (model->groups[i]->subscription == subscription &&
            strcasecmp(model->groups[i]->name, name) == 0)
            return model->groups[i];
    return NULL;
}

struct group *model_find_group_of(const struct model *model,
                                  const struct subscription *subscription, const char *name)
{
    struct group *group = find_place(model, subscription, name);

    return group && !group->gone ? group : NULL;
}

struct group *model_find_group(const struct model *model, const char *name)
{
    return model_find_group_of(model, &model->subscriptions[0], name);
}

struct group *model_add_group_to(struct model *model, const struct subscription *subscription,
                                 const char *name)
{
    struct group *group = find_place(model, subscription, name);

    if (group) {
        group->gone = false;
        return group;
    }
    if (model->n_groups == MODEL_MAX_GROUPS)
        abort();
    group = mem_alloc(sizeof *group);
    *group = (struct group){.model = model,
                            .subscription = subscription,
                            .name = mem_strdup(name),
                            .body = json_object()};
    CLEANUP(freep) char *id = group_id(group);
    group->key = resource_key(id);
    model->groups[model->n_groups++] = group;
    return group;
}

struct group *model_add_group(struct model *model, const char *name)
{
    return model_add_group_to(model, &model->subscriptions[0], name);
}

char *group_resource_id(const struct group *group, const char *type, const char *name)
{
    return resource_id(group->subscription->id, group->name, type, name);
}

bool model_location_is(const struct model *model, const char *location)
{
    return region_is_same(model->location, location);
}

uint64_t model_draw(struct model *model, enum latency_kind kind)
{
    return latency_draw(&model->latencies, kind, loop_random(model->loop));
}

int64_t model_now_us(const struct model *model)
{
    return loop_wall_us(model->loop);
}

struct refusal *model_copy_content(struct model *model, const char *from, const char *to)
{
    CLEANUP(err_freep)
    struct err *err = model->devices ? model->devices->copy(model->devices_ctx, from, to) : NULL;

    return err ? refuse(COPY_FAILED, err_message(err)) : NULL;
}

/* ---- what has changed ---- */

/* Counts a change; whether its record is wanted too. */
static bool count(struct model *model)
{
    model->n_changes++;
    return model->commit;
}

static void note(struct model *model, const char *table, const char *key, json_t *record)
{
    json_t *records;

    if (!model->changes)
        model->changes = json_object();
    records = json_object_get(model->changes, table);
    if (!records) {
        records = json_object();
        json_object_set_new(model->changes, table, records);
    }
    json_object_set_new(records, key, record);
}

void model_changed_group(struct model *model, const struct group *group)
{
    if (count(model))
        note(model, "groups", group->key, record_of_group(group));
}

void model_changed_disk(struct model *model, const struct disk *disk)
{
    if (count(model))
        note(model, "disks", disk->key, record_of_disk(disk));
}

void model_changed_snapshot(struct model *model, const struct snapshot *snapshot)
{
    if (count(model))
        note(model, "snapshots", snapshot->key, record_of_snapshot(snapshot));
}

void model_changed_vm(struct model *model, const struct vm *vm)
{
    if (count(model))
        note(model, "vms", vm->key, record_of_vm(vm));
}

void model_changed_scale_set(struct model *model, const struct scale_set *set)
{
    if (count(model))
        note(model, "scaleSets", set->key, record_of_scale_set(set));
}

void model_changed_operation(struct model *model, const struct operation *operation)
{
    if (count(model))
        note(model, "operations", operation->id, record_of_operation(operation));
}

void model_gone(struct model *model, const char *table, const char *key)
{
    if (count(model))
        note(model, table, key, json_null());
}

void model_set_removed(struct model *model, const char *vm_name, bool removed)
{
    if (removed)
        json_object_set_new(model->removed_vms, vm_name, json_true());
    else
        json_object_del(model->removed_vms, vm_name);
    if (count(model))
        note(model, "removedVms", vm_name, removed ? json_true() : json_null());
}

void model_commit(struct model *model)
{
    json_t *changes = TAKE_PTR(model->changes);

    if (changes)
        model->commit(model->commit_ctx, changes);
    json_decref(changes);
}
