#include "test/azsim/model/record.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/attachment.h"
#include "test/azsim/model/group.h"
#include "test/azsim/model/scale_set.h"
#include "test/azsim/model/snapshot.h"

/* ---- records ---- */

/* Adds where a resource is. */
static json_t *in_group(json_t *record, const struct group *group)
{
    json_object_set_new(record, "subscription", json_string(group->subscription->id));
    json_object_set_new(record, "group", json_string(group->name));
    return record;
}

json_t *record_of_group(const struct group *group)
{
    return in_group(json_pack("{s:O, s:b}", "body", group->body, "gone", group->gone), group);
}

static json_t *times_json(const int64_t *times, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n && times[i]; i++)
        json_array_append_new(list, json_integer(times[i]));
    return list;
}

static void read_times(const json_t *list, int64_t *times, size_t n)
{
    for (size_t i = 0; i < n; i++)
        times[i] = json_integer_value(json_array_get(list, i));
}

json_t *record_of_disk(const struct disk *disk)
{
    json_t *json =
        json_pack("{s:s, s:I, s:O, s:s, s:s, s:I, s:I}", "name", disk->name, "sequence",
                  (json_int_t)disk->sequence, "body", disk->body, "provisioning",
                  provisioning_name(disk->provisioning), "uniqueId", disk->unique_id, "created",
                  (json_int_t)disk->created_us, "owned", (json_int_t)disk->owned_us);

    if (disk->copy.end_us)
        json_object_set_new(json, "copy", copy_json(&disk->copy));
    if (disk->access_until_us)
        json_object_set_new(json, "access", json_integer(disk->access_until_us));
    if (disk->sku_times[0])
        json_object_set_new(json, "skuTimes",
                            times_json(disk->sku_times, COUNT_OF(disk->sku_times)));
    if (disk->performance_times[0])
        json_object_set_new(json, "performanceTimes",
                            times_json(disk->performance_times, COUNT_OF(disk->performance_times)));
    return in_group(json, disk->group);
}

json_t *record_of_snapshot(const struct snapshot *snapshot)
{
    json_t *json = json_pack(
        "{s:s, s:I, s:O, s:s, s:s, s:s, s:I, s:I, s:b, s:b, s:o, s:I}", "name", snapshot->name,
        "sequence", (json_int_t)snapshot->sequence, "body", snapshot->body, "provisioning",
        provisioning_name(snapshot->provisioning), "uniqueId", snapshot->unique_id, "familyId",
        snapshot->family_id, "created", (json_int_t)snapshot->created_us, "sizeGiB",
        (json_int_t)snapshot->size_gib, "slow", snapshot->slow, "sectors4k", snapshot->sectors_4k,
        "copy", copy_json(&snapshot->copy), "access", (json_int_t)snapshot->access_until_us);

    if (*snapshot->copied.family_id)
        json_object_set_new(json, "copied",
                            json_pack("{s:s, s:I}", "familyId", snapshot->copied.family_id,
                                      "created", (json_int_t)snapshot->copied.created_us));
    return in_group(json, snapshot->group);
}

static json_t *data_disks_json(const struct data_disks *disks)
{
    json_t *list = json_array();

    for (size_t i = 0; i < disks->n; i++)
        json_array_append_new(list, json_pack("{s:i, s:s, s:s, s:b, s:O}", "lun",
                                              (int)disks->items[i].lun, "disk", disks->items[i].key,
                                              "uniqueId", disks->items[i].unique_id, "toBeDetached",
                                              disks->items[i].to_be_detached, "entry",
                                              disks->items[i].entry));
    return list;
}

static json_t *attachments_json(const struct vm *vm)
{
    json_t *list = json_array();

    LIST_FOREACH(&vm->attachments, link) {
        const struct attachment *attachment = ATTACHMENT_OF_VM(link);

        json_array_append_new(list,
                              json_pack("{s:i, s:s, s:b, s:I}", "lun", (int)attachment->lun, "disk",
                                        attachment->disk->key, "attached", attachment->attached,
                                        "sequence", (json_int_t)attachment->sequence));
    }
    return list;
}

json_t *record_of_vm(const struct vm *vm)
{
    json_t *json = json_pack(
        "{s:o, s:s, s:I, s:O, s:o, s:o, s:s, s:s, s:s*, s:I, s:I, s:i, s:s, s:s}", "spec",
        vm_spec_json(&vm->spec), "size", vm->size->name, "sequence", (json_int_t)vm->sequence,
        "body", vm->body, "dataDisks", data_disks_json(&vm->data_disks), "attachments",
        attachments_json(vm), "power", power_name(vm->power), "provisioning",
        provisioning_name(vm->provisioning), "failure", vm->failure, "created",
        (json_int_t)vm->created_us, "updated", (json_int_t)vm->updated_us, "etag", (int)vm->etag,
        "vmId", vm->vm_id, "clientId", vm->client_id);

    if (!json)
        abort();
    if (vm->is_generalized)
        json_object_set_new(json, "generalized", json_true());
    return in_group(json, vm->group);
}

json_t *record_of_scale_set(const struct scale_set *set)
{
    json_t *json = json_pack(
        "{s:s, s:I, s:b, s:s, s:I, s:i, s:s, s:O, s:b, s:b}", "name", set->name, "sequence",
        (json_int_t)set->sequence, "uniform", set->uniform, "size", set->size->name, "created",
        (json_int_t)set->created_us, "etag", (int)set->etag, "uniqueId", set->unique_id, "body",
        set->body, "updating", set->is_updating, "deleting", set->is_deleting);

    return in_group(json, set->group);
}

json_t *record_of_operation(const struct operation *operation)
{
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:I, s:I}", "kind", operation_kind_name(operation->kind),
                  "status", operation_status_name(operation->status), "target", operation->target,
                  "start", (json_int_t)operation->start_us, "end", (json_int_t)operation->end_us);

    if (operation->refusal) {
        json_object_set_new(json, "error", refusal_json(operation->refusal));
        json_object_set_new(json, "errorStatus", json_integer(operation->refusal->status));
    }
    return json;
}

json_t *records_of_model(const struct model *model)
{
    json_t *disks = json_object(), *snapshots = json_object(), *sets = json_object();
    json_t *vms = json_object(), *operations = json_object(), *groups = json_object();

    for (size_t i = 0; i < model->n_groups; i++)
        if (model->groups[i]->is_changed)
            json_object_set_new(groups, model->groups[i]->key, record_of_group(model->groups[i]));
    HASH_FOREACH(model->disks, disk) {
        json_object_set_new(disks, disk->key, record_of_disk(disk));
    }
    HASH_FOREACH(model->snapshots, snapshot) {
        json_object_set_new(snapshots, snapshot->key, record_of_snapshot(snapshot));
    }
    HASH_FOREACH(model->scale_sets, set) {
        json_object_set_new(sets, set->key, record_of_scale_set(set));
    }
    HASH_FOREACH(model->vms, vm) {
        json_object_set_new(vms, vm->key, record_of_vm(vm));
    }
    HASH_FOREACH(model->operations, operation) {
        json_object_set_new(operations, operation->id, record_of_operation(operation));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:O}", "groups", groups, "disks", disks,
                     "snapshots", snapshots, "scaleSets", sets, "vms", vms, "operations",
                     operations, "removedVms", model->removed_vms);
}

void records_apply(json_t *snapshot, const json_t *change)
{
    const char *table, *key;
    json_t *records, *record;

    json_object_foreach((json_t *)(uintptr_t)change, table, records) {
        json_t *own = json_object_get(snapshot, table);

        if (!own) {
            own = json_object();
            json_object_set_new(snapshot, table, own);
        }
        json_object_foreach(records, key, record) {
            if (json_is_null(record))
                json_object_del(own, key);
            else
                json_object_set(own, key, record);
        }
    }
}

/* ---- restoring ---- */

/* Text that is not there is empty, and then not what is looked for. */
static const char *text(const json_t *record, const char *member)
{
    return resource_text(record, member, "");
}

static int64_t number(const json_t *record, const char *member)
{
    return json_integer_value(json_object_get(record, member));
}

static void copy_uuid(char to[UUID_SIZE], const json_t *record, const char *member)
{
    snprintf(to, UUID_SIZE, "%s", text(record, member));
}

static struct err *find_group(struct model *model, const json_t *record, const char *key,
                              struct group **ret)
{
    const char *id = resource_text(record, "subscription", model->subscriptions[0].id);
    const struct subscription *subscription = model_find_subscription(model, id);

    *ret = subscription ? model_find_group_of(model, subscription, text(record, "group")) : NULL;
    return *ret ? NULL
                : err_new(ERR_INVALID,
                          "%s is in resource group \"%s\" of subscription %s, which is not "
                          "configured",
                          key, text(record, "group"), id);
}

static struct err *unusable(const char *key)
{
    return err_new(ERR_INVALID, "%s has no usable record", key);
}

static void note_sequence(struct model *model, uint64_t sequence)
{
    if (sequence > model->sequence)
        model->sequence = sequence;
}

static struct err *restore_group(struct model *model, const char *key, const json_t *record)
{
    const json_t *body = json_object_get(record, "body");
    const struct subscription *subscription =
        model_find_subscription(model, text(record, "subscription"));

    if (!subscription || !json_is_object(body) || !group_name_is_valid(text(record, "group")) ||
        model->n_groups == MODEL_MAX_GROUPS)
        return unusable(key);
    group_restore(model_add_group_to(model, subscription, text(record, "group")),
                  json_deep_copy(body), json_is_true(json_object_get(record, "gone")));
    return NULL;
}

static struct err *restore_disk(struct model *model, const char *key, const json_t *record)
{
    const json_t *body = json_object_get(record, "body");
    enum provisioning provisioning;
    struct disk_spec spec;
    struct group *group;

    TRY(find_group(model, record, key, &group));
    CLEANUP(refusal_freep)
    struct refusal *refusal = disk_spec_read(body, text(record, "name"), &spec);
    if (refusal || !provisioning_from_name(text(record, "provisioning"), &provisioning))
        return unusable(key);
    struct disk *disk = disk_new(model, group, text(record, "name"), json_deep_copy(body),
                                 (uint64_t)number(record, "sequence"));
    disk->provisioning = provisioning;
    disk->created_us = number(record, "created");
    disk->owned_us = number(record, "owned");
    disk->copy = copy_from_json(json_object_get(record, "copy"));
    disk->access_until_us = number(record, "access");
    read_times(json_object_get(record, "skuTimes"), disk->sku_times, COUNT_OF(disk->sku_times));
    read_times(json_object_get(record, "performanceTimes"), disk->performance_times,
               COUNT_OF(disk->performance_times));
    copy_uuid(disk->unique_id, record, "uniqueId");
    note_sequence(model, disk->sequence);
    return NULL;
}

static struct err *restore_snapshot(struct model *model, const char *key, const json_t *record)
{
    enum provisioning provisioning;
    struct group *group;

    TRY(find_group(model, record, key, &group));
    if (!provisioning_from_name(text(record, "provisioning"), &provisioning))
        return unusable(key);
    struct snapshot *snapshot = snapshot_new(model, group, text(record, "name"),
                                             json_deep_copy(json_object_get(record, "body")),
                                             (uint64_t)number(record, "sequence"));
    if (!snapshot)
        return unusable(key);
    snapshot->provisioning = provisioning;
    snapshot->created_us = number(record, "created");
    snapshot->size_gib = number(record, "sizeGiB");
    snapshot->slow = json_is_true(json_object_get(record, "slow"));
    snapshot->sectors_4k = json_is_true(json_object_get(record, "sectors4k"));
    snapshot->copy = copy_from_json(json_object_get(record, "copy"));
    snapshot->access_until_us = number(record, "access");
    copy_uuid(snapshot->unique_id, record, "uniqueId");
    copy_uuid(snapshot->family_id, record, "familyId");
    copy_uuid(snapshot->copied.family_id, json_object_get(record, "copied"), "familyId");
    snapshot->copied.created_us = number(json_object_get(record, "copied"), "created");
    note_sequence(model, snapshot->sequence);
    return NULL;
}

static struct err *restore_data_disks(struct vm *vm, const json_t *list)
{
    size_t i;
    json_t *record;

    json_array_foreach(list, i, record) {
        if (!json_is_object(json_object_get(record, "entry")))
            return unusable(vm->key);
        struct data_disk item = {.lun = (unsigned)number(record, "lun"),
                                 .key = mem_strdup(text(record, "disk")),
                                 .to_be_detached =
                                     json_is_true(json_object_get(record, "toBeDetached")),
                                 .entry = json_deep_copy(json_object_get(record, "entry"))};

        copy_uuid(item.unique_id, record, "uniqueId");
        data_disks_add(&vm->data_disks, &item);
    }
    return NULL;
}

static struct err *restore_attachments(struct vm *vm, const json_t *list)
{
    size_t i;
    json_t *record;

    json_array_foreach(list, i, record) {
        struct disk *disk = disk_find(vm->model, text(record, "disk"));

        if (!disk)
            return err_new(ERR_INVALID, "%s has a disk %s, which does not exist", vm->key,
                           text(record, "disk"));
        struct attachment *attachment = attachment_restore(
            vm, (unsigned)number(record, "lun"), disk, (uint64_t)number(record, "sequence"));
        attachment->attached = json_is_true(json_object_get(record, "attached"));
        ownership_catch_up(disk);
        note_sequence(vm->model, attachment->sequence);
    }
    return NULL;
}

static struct err *restore_scale_set(struct model *model, const char *key, const json_t *record)
{
    const struct vm_size *size = vm_size_find(text(record, "size"));
    struct group *group;

    TRY(find_group(model, record, key, &group));
    if (!size || !resource_name_is_valid(text(record, "name")))
        return unusable(key);
    struct scale_set *set = scale_set_new(model, group, text(record, "name"), size,
                                          (uint64_t)number(record, "sequence"));
    set->uniform = json_is_true(json_object_get(record, "uniform"));
    set->created_us = number(record, "created");
    set->etag = (unsigned)number(record, "etag");
    copy_uuid(set->unique_id, record, "uniqueId");
    if (json_is_object(json_object_get(record, "body"))) /* it came later */
        json_object_update(set->body, json_object_get(record, "body"));
    set->is_updating = json_is_true(json_object_get(record, "updating"));
    set->is_deleting = json_is_true(json_object_get(record, "deleting"));
    note_sequence(model, set->sequence);
    return NULL;
}

static struct err *restore_vm(struct model *model, const char *key, const json_t *record)
{
    CLEANUP(vm_spec_finip) struct vm_spec spec = {0};
    struct scale_set *set;
    struct group *group;

    TRY(find_group(model, record, key, &group));
    TRY(vm_spec_read(json_object_get(record, "spec"), key, &spec));
    TRY(scale_set_for(model, group, &spec, &set));
    struct vm *vm = vm_new(model, group, set, &spec, (uint64_t)number(record, "sequence"));
    vm->size = vm_size_find(text(record, "size"));
    vm->body = json_deep_copy(json_object_get(record, "body"));
    vm->failure = mem_strdup(resource_text(record, "failure", NULL));
    vm->created_us = number(record, "created");
    vm->updated_us = number(record, "updated");
    vm->etag = (unsigned)number(record, "etag");
    vm->is_generalized = json_is_true(json_object_get(record, "generalized"));
    copy_uuid(vm->vm_id, record, "vmId");
    copy_uuid(vm->client_id, record, "clientId");
    note_sequence(model, vm->sequence);
    if (!vm->size || !json_is_object(vm->body) ||
        !power_from_name(text(record, "power"), &vm->power) ||
        !provisioning_from_name(text(record, "provisioning"), &vm->provisioning))
        return unusable(key);
    TRY(restore_data_disks(vm, json_object_get(record, "dataDisks")));
    return restore_attachments(vm, json_object_get(record, "attachments"));
}

/* Where what an operation changes points to it; NULL if that does not exist. */
static struct operation **place_of(const struct operation *operation)
{
    const struct model *model = operation->model;

    switch (operation_owner(operation)) {
    case OPERATION_OF_DISK: {
        struct disk *disk = disk_find(model, operation->target);
        return disk ? &disk->operation : NULL;
    }
    case OPERATION_OF_SNAPSHOT: {
        struct snapshot *snapshot = snapshot_find(model, operation->target);
        return snapshot ? &snapshot->operation : NULL;
    }
    case OPERATION_OF_VM: {
        struct vm *vm = vm_find(model, operation->target);
        return vm ? &vm->operation : NULL;
    }
    case OPERATION_OF_SCALE_SET: {
        struct scale_set *set = scale_set_find(model, operation->target);
        return set ? &set->operation : NULL;
    }
    case OPERATION_OF_GROUP: {
        struct group *group = group_find(model, operation->target);
        return group ? &group->deletion : NULL;
    }
    }
    abort();
}

static struct err *restore_operation(struct model *model, const char *key, const json_t *record)
{
    const json_t *error = json_object_get(record, "error");
    enum operation_status status;
    enum operation_kind kind;

    if (!operation_kind_from_name(text(record, "kind"), &kind) ||
        !operation_status_from_name(text(record, "status"), &status) ||
        (status == OPERATION_FAILED) != json_is_object(error))
        return unusable(key);
    struct operation *operation = operation_restore(
        model, key, kind, status, text(record, "target"), number(record, "start"),
        number(record, "end"),
        error ? refusal_from_json((int)number(record, "errorStatus"), error) : NULL);
    if (status != OPERATION_IN_PROGRESS)
        return NULL;
    struct operation **place = place_of(operation);
    if (!place)
        return err_new(ERR_INVALID, "operation %s is about %s, which does not exist", key,
                       operation->target);
    *place = operation;
    return NULL;
}

struct err *records_restore(struct model *model, const json_t *snapshot)
{
    static const struct {
        const char *table;
        struct err *(*restore)(struct model *model, const char *key, const json_t *record);
    } tables[] = {{"groups", restore_group},
                  {"disks", restore_disk},
                  {"snapshots", restore_snapshot},
                  {"scaleSets", restore_scale_set},
                  {"vms", restore_vm},
                  {"operations", restore_operation}};
    const char *key;
    json_t *record;

    for (size_t i = 0; i < COUNT_OF(tables); i++)
        json_object_foreach(json_object_get(snapshot, tables[i].table), key, record) {
            TRY(tables[i].restore(model, key, record));
        }
    json_object_foreach(json_object_get(snapshot, "removedVms"), key, record) {
        json_object_set(model->removed_vms, key, record);
    }
    return NULL;
}
