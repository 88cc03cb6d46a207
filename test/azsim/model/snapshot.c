#include "test/azsim/model/snapshot.h"

#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/access.h"
#include "test/azsim/model/region.h"
#include "test/azsim/model/source.h"

static const int64_t BURST_US = 5LL * 60 * 1000000;

/* What snapshots can be stored on. */
static const struct {
    const char *name, *tier;
} skus[] = {{"Standard_LRS", "Standard"}, {"Premium_LRS", "Premium"}, {"Standard_ZRS", "Standard"}};

/* Members that Azure sets, whatever a client sends. */
static const char *const read_only[] = {"id",
                                        "name",
                                        "type",
                                        "managedBy",
                                        "systemData",
                                        "sku.tier",
                                        "properties.timeCreated",
                                        "properties.uniqueId",
                                        "properties.diskState",
                                        "properties.diskSizeGB",
                                        "properties.diskSizeBytes",
                                        "properties.provisioningState",
                                        "properties.completionPercent",
                                        "properties.copyCompletionError",
                                        "properties.snapshotAccessState",
                                        "properties.incrementalSnapshotFamilyId",
                                        NULL};

struct snapshot *snapshot_find(const struct model *model, const char *key)
{
    struct snapshot *snapshot;

    HASH_FIND_STR(model->snapshots, key, snapshot);
    return snapshot;
}

/* ---- bodies ---- */

static int find_sku(const json_t *body)
{
    const char *name = resource_text(body, "sku.name", skus[0].name);

    for (int i = 0; i < (int)COUNT_OF(skus); i++)
        if (strcasecmp(skus[i].name, name) == 0)
            return i;
    return -1;
}

static struct refusal *check_body(const json_t *body, const char *name)
{
    const char *option = resource_text(body, "properties.creationData.createOption", NULL);

    if (!resource_name_is_valid(name))
        return refuse(NAME_INVALID("snapshotName"));
    if (find_sku(body) < 0)
        return refuse(PARAMETER_UNKNOWN("sku.name"), resource_text(body, "sku.name", ""));
    if (!option)
        return refuse(PARAMETER_MISSING("snapshot.creationData.createOption"));
    if (strcasecmp(option, "Copy") != 0 && strcasecmp(option, "CopyStart") != 0)
        return refuse(PARAMETER_UNKNOWN("snapshot.creationData.createOption"), option);
    if (!resource_text(body, "properties.creationData.sourceResourceId", NULL))
        return refuse(PARAMETER_MISSING("snapshot.creationData.sourceResourceId"));
    return NULL;
}

static bool is_copy_start(const json_t *body)
{
    return strcasecmp(resource_text(body, "properties.creationData.createOption", ""),
                      "CopyStart") == 0;
}

enum provisioning snapshot_provisioning(const struct snapshot *snapshot)
{
    return loop_now(snapshot->model->loop) < snapshot->updating_until ? PROVISIONING_UPDATING
                                                                      : snapshot->provisioning;
}

const char *snapshot_location(const struct snapshot *snapshot)
{
    return resource_text(snapshot->body, "location", snapshot->model->location);
}

static json_int_t instant_minutes(const json_t *body)
{
    return json_integer_value(
        resource_get(body, "properties.creationData.instantAccessDurationMinutes"));
}

int64_t snapshot_instant_until_us(const struct snapshot *snapshot)
{
    return snapshot->created_us + instant_minutes(snapshot->body) * 60 * 1000000;
}

bool snapshot_is_usable(const struct snapshot *snapshot)
{
    int64_t now = model_now_us(snapshot->model);

    return !snapshot->slow || copy_is_done(&snapshot->copy, now) ||
           now < snapshot_instant_until_us(snapshot);
}

struct snapshot *snapshot_new(struct model *model, struct group *group, const char *name,
                              json_t *body, uint64_t sequence)
{
    CLEANUP(refusal_freep) struct refusal *refusal = check_body(body, name);
    struct snapshot *snapshot;

    if (refusal) {
        json_decref(body);
        return NULL;
    }
    snapshot = mem_alloc(sizeof *snapshot);
    snapshot->model = model;
    snapshot->group = group;
    snapshot->name = mem_strdup(name);
    snapshot->id = group_resource_id(group, "snapshots", name);
    snapshot->key = resource_key(snapshot->id);
    snapshot->body = body;
    snapshot->sku = skus[find_sku(body)].name;
    snapshot->tier = skus[find_sku(body)].tier;
    snapshot->incremental = json_is_true(resource_get(body, "properties.incremental"));
    snapshot->sequence = sequence;
    HASH_ADD_KEYPTR(hh, model->snapshots, snapshot->key, strlen(snapshot->key), snapshot);
    return snapshot;
}

void snapshot_free(struct snapshot *snapshot)
{
    HASH_DEL(snapshot->model->snapshots, snapshot);
    json_decref(snapshot->body);
    free(snapshot->name);
    free(snapshot->id);
    free(snapshot->key);
    free(snapshot);
}

/* ---- create ---- */

static bool is_of(const struct snapshot *snapshot, const char *source_unique_id)
{
    const char *unique_id =
        resource_text(snapshot->body, "properties.creationData.sourceUniqueId", "");

    return strcmp(unique_id, source_unique_id) == 0;
}

/* How many snapshots a disk may have, and how fast. */
static struct refusal *check_limits(const struct disk *disk)
{
    const struct model *model = disk->model;
    int64_t now = model_now_us(model);
    unsigned all = 0, pending = 0, burst = 0;

    HASH_FOREACH(model->snapshots, snapshot) {
        if (!snapshot->incremental || !is_of(snapshot, disk->unique_id))
            continue;
        all++;
        pending += !copy_is_done(&snapshot->copy, now);
    }
    for (size_t i = 0; i < COUNT_OF(disk->snapshot_times); i++)
        burst += disk->snapshot_times[i] && now - disk->snapshot_times[i] < BURST_US;
    if (all >= SNAPSHOT_MAX_INCREMENTAL)
        return refuse(TOO_MANY_SNAPSHOTS, disk->id, SNAPSHOT_MAX_INCREMENTAL);
    if (pending >= SNAPSHOT_MAX_PENDING)
        return refuse(TOO_MANY_PENDING_SNAPSHOTS, disk->id, SNAPSHOT_MAX_PENDING);
    if (burst >= SNAPSHOT_MAX_BURST)
        return refuse(TOO_MANY_SNAPSHOTS_AT_ONCE, disk->id, SNAPSHOT_MAX_BURST);
    return NULL;
}

static struct refusal *check_instant(const json_t *body, const struct source *source)
{
    json_int_t minutes = instant_minutes(body);
    bool good = source_is_slow(source) && minutes >= SNAPSHOT_LEAST_INSTANT &&
                minutes <= SNAPSHOT_MOST_INSTANT;

    return minutes && !good
               ? refuse(INSTANT_ACCESS_INVALID, SNAPSHOT_LEAST_INSTANT, SNAPSHOT_MOST_INSTANT)
               : NULL;
}

static bool is_under_way(const struct copy *copy, int64_t now_us)
{
    return !copy->stopped_us && now_us < copy->end_us;
}

/* The snapshots of a disk are copied one after another, in the order in which they were made. */
static struct refusal *check_turn(const struct snapshot *source, const char *location)
{
    const struct model *model = source->model;
    int64_t now = model_now_us(model);

    HASH_FOREACH(model->snapshots, other) {
        if (strcmp(other->copied.family_id, source->family_id) != 0)
            continue;
        if (is_under_way(&other->copy, now))
            return refuse(COPY_START_UNDER_WAY, source->id);
        if (other->copied.created_us > source->created_us &&
            region_is_same(snapshot_location(other), location))
            return refuse(COPY_START_OUT_OF_ORDER, source->id, location);
    }
    return NULL;
}

/* An instant access to the source is not enough: its own data has to be there. */
static struct refusal *check_copy_start(const json_t *body, const struct snapshot *source)
{
    bool incremental = json_is_true(resource_get(body, "properties.incremental"));

    if (!source || !source->incremental || !incremental)
        return refuse(COPY_START_NOT_INCREMENTAL);
    if (!copy_is_done(&source->copy, model_now_us(source->model)))
        return refuse(SOURCE_NOT_COMPLETE, source->id);
    return check_turn(source, resource_text(body, "location", ""));
}

/* Only what is incremental can be copied in the background, and what is incremental is in the
 * subscription of its disk. */
static struct refusal *check_source(const struct group *group, const json_t *body,
                                    const struct source *source)
{
    bool incremental = json_is_true(resource_get(body, "properties.incremental"));

    if (is_copy_start(body))
        REQUIRE(check_copy_start(body, source->snapshot));
    if (!incremental && source_is_slow(source))
        return refuse(SNAPSHOT_NOT_INCREMENTAL);
    REQUIRE(check_instant(body, source));
    if (!incremental || !source->disk)
        return NULL;
    if (source->disk->group->subscription != group->subscription)
        return refuse(SNAPSHOT_SUBSCRIPTION_DIFFERS, source->disk->id);
    return check_limits(source->disk);
}

static json_t *with_defaults(const struct model *model, const json_t *sent,
                             const struct source *source)
{
    json_t *body = json_pack("{s:{s:s}, s:{s:b, s:{s:s}, s:s, s:s}}", "sku", "name", "Standard_LRS",
                             "properties", "incremental", 0, "encryption", "type",
                             "EncryptionAtRestWithPlatformKey", "networkAccessPolicy", "AllowAll",
                             "publicNetworkAccess", "Enabled");

    resource_merge(body, sent);
    resource_strip(body, read_only);
    json_object_set_new(body, "location",
                        json_string(region_find(model, resource_text(sent, "location", ""))));
    json_object_set_new(resource_get(body, "properties.creationData"), "sourceUniqueId",
                        json_string(source_unique_id(source)));
    return body;
}

static void note_burst(struct snapshot *snapshot)
{
    struct disk *disk = NULL;

    HASH_FOREACH(snapshot->model->disks, candidate) {
        if (is_of(snapshot, candidate->unique_id))
            disk = candidate;
    }
    if (!disk || !snapshot->incremental)
        return;
    memmove(disk->snapshot_times + 1, disk->snapshot_times,
            sizeof disk->snapshot_times - sizeof disk->snapshot_times[0]);
    disk->snapshot_times[0] = snapshot->created_us;
}

/* Incremental snapshots of a disk are of one family; a copy begins another. */
static void choose_family(struct snapshot *snapshot)
{
    const char *source =
        resource_text(snapshot->body, "properties.creationData.sourceUniqueId", "");

    random_uuid(loop_random(snapshot->model->loop), snapshot->family_id);
    if (is_copy_start(snapshot->body))
        return;
    HASH_FOREACH(snapshot->model->snapshots, other) {
        if (other != snapshot && other->incremental && !is_copy_start(other->body) &&
            is_of(other, source)) {
            memcpy(snapshot->family_id, other->family_id, sizeof snapshot->family_id);
            return;
        }
    }
}

static void fill(struct snapshot *snapshot, const struct source *source)
{
    struct model *model = snapshot->model;
    const json_t *body = source->disk ? source->disk->body : source->snapshot->body;
    bool small =
        json_integer_value(resource_get(body, "properties.creationData.logicalSectorSize")) == 512;

    snapshot->slow = source_is_slow(source);
    snapshot->sectors_4k =
        source->snapshot ? source->snapshot->sectors_4k : snapshot->slow && !small;
    snapshot->size_gib = source_size_gib(source);
    snapshot->provisioning = PROVISIONING_UPDATING;
    snapshot->created_us = model_now_us(model);
    random_uuid(loop_random(model->loop), snapshot->unique_id);
    choose_family(snapshot);
    if (is_copy_start(snapshot->body)) {
        memcpy(snapshot->copied.family_id, source->snapshot->family_id,
               sizeof snapshot->copied.family_id);
        snapshot->copied.created_us = source->snapshot->created_us;
    }
    if (snapshot->slow || is_copy_start(snapshot->body))
        snapshot->copy = (struct copy){.start_us = snapshot->created_us,
                                       .end_us = snapshot->created_us +
                                                 (int64_t)model_draw(model, LATENCY_COPY) * 1000};
    note_burst(snapshot);
}

static struct refusal *snapshot_create(struct model *model, struct group *group, const char *name,
                                       const json_t *sent, struct snapshot **ret_snapshot,
                                       struct operation **ret)
{
    struct source source;

    REQUIRE(check_body(sent, name));
    REQUIRE(source_find(model, sent, &source));
    REQUIRE(check_source(group, sent, &source));
    if (HASH_COUNT(model->snapshots) >= MODEL_MAX_SNAPSHOTS)
        return refuse(QUOTA_EXCEEDED, "SnapshotCount", model->location,
                      (long long)MODEL_MAX_SNAPSHOTS, (long long)HASH_COUNT(model->snapshots));

    struct snapshot *snapshot =
        snapshot_new(model, group, name, with_defaults(model, sent, &source), ++model->sequence);
    if (!snapshot)
        abort(); /* it has been checked */
    fill(snapshot, &source);
    struct refusal *refusal =
        model_copy_content(model, source_unique_id(&source), snapshot->unique_id);
    if (refusal) {
        snapshot_free(snapshot);
        return refusal;
    }
    snapshot->operation = operation_start(model, OPERATION_SNAPSHOT_CREATE, snapshot->key,
                                          model_draw(model, LATENCY_SNAPSHOT));
    *ret_snapshot = snapshot;
    *ret = snapshot->operation;
    model_changed_snapshot(model, snapshot);
    model_commit(model);
    return NULL;
}

/* ---- change ---- */

struct refusal *snapshot_patch(struct snapshot *snapshot, const json_t *change,
                               struct operation **ret)
{
    struct model *model = snapshot->model;

    if (snapshot->operation)
        return refuse(CONCURRENT_REQUEST);

    json_t *body = json_deep_copy(snapshot->body);
    resource_merge(body, change);
    resource_strip(body, read_only);
    json_object_set_new(body, "location", json_string(snapshot_location(snapshot)));
    struct refusal *refusal = check_body(body, snapshot->name);
    if (!refusal)
        refusal = creation_check_same(snapshot->body, body);
    if (!refusal &&
        json_is_true(resource_get(body, "properties.incremental")) != snapshot->incremental)
        refusal = refuse(PROPERTY_CHANGE_NOT_ALLOWED("incremental"), "incremental");
    if (refusal) {
        json_decref(body);
        return refusal;
    }
    json_decref(snapshot->body);
    snapshot->body = body;
    snapshot->sku = skus[find_sku(body)].name;
    snapshot->tier = skus[find_sku(body)].tier;
    snapshot->provisioning = PROVISIONING_UPDATING;
    snapshot->operation = operation_start(model, OPERATION_SNAPSHOT_UPDATE, snapshot->key,
                                          model_draw(model, LATENCY_UPDATE));
    *ret = snapshot->operation;
    model_changed_snapshot(model, snapshot);
    model_commit(model);
    return NULL;
}

struct refusal *snapshot_put(struct model *model, struct group *group, const char *name,
                             const json_t *body, struct snapshot **ret_snapshot,
                             struct operation **ret)
{
    CLEANUP(freep)
    char *id = group_resource_id(group, "snapshots", name);
    CLEANUP(freep) char *key = resource_key(id);
    struct snapshot *snapshot = snapshot_find(model, key);
    const char *location = resource_text(body, "location", NULL);

    if (!location)
        return refuse(LOCATION_REQUIRED);
    if (snapshot && !region_is_same(snapshot_location(snapshot), location))
        return refuse(LOCATION_DIFFERS, snapshot->name, snapshot_location(snapshot), group->name,
                      location);
    if (!region_find(model, location)) {
        CLEANUP(freep) char *list = region_list(model);

        return refuse(LOCATION_NOT_AVAILABLE, location, "snapshots", list);
    }
    if (!snapshot)
        return snapshot_create(model, group, name, body, ret_snapshot, ret);
    REQUIRE(snapshot_patch(snapshot, body, ret));
    *ret_snapshot = snapshot;
    return NULL;
}

struct refusal *snapshot_delete(struct snapshot *snapshot, struct operation **ret)
{
    struct model *model = snapshot->model;

    if (snapshot->operation)
        return refuse(CONCURRENT_REQUEST);
    if (snapshot_is_accessed(snapshot))
        return refuse(ACCESS_IS_GRANTED, "snapshot", snapshot->name);
    snapshot->provisioning = PROVISIONING_DELETING;
    snapshot->operation = operation_start(model, OPERATION_SNAPSHOT_DELETE, snapshot->key,
                                          model_draw(model, LATENCY_DELETE));
    *ret = snapshot->operation;
    model_changed_snapshot(model, snapshot);
    model_commit(model);
    return NULL;
}

/* ---- copies that fail ---- */

static void stop_copies(struct model *model, const char *source_unique_id, bool copy_start)
{
    int64_t now = model_now_us(model);

    HASH_FOREACH(model->snapshots, other) {
        if (is_copy_start(other->body) != copy_start || !is_of(other, source_unique_id) ||
            other->copy.stopped_us || copy_is_done(&other->copy, now))
            continue;
        other->copy.stopped_us = now;
        model_changed_snapshot(model, other);
    }
}

void snapshot_fail_pending(const struct disk *disk)
{
    stop_copies(disk->model, disk->unique_id, false);
}

/* ---- ends of operations ---- */

void snapshot_remove(struct snapshot *snapshot)
{
    struct model *model = snapshot->model;

    stop_copies(model, snapshot->unique_id, true);
    if (model->devices)
        model->devices->remove(model->devices_ctx, snapshot->unique_id);
    model_gone(model, "snapshots", snapshot->key);
    snapshot_free(snapshot);
}

struct refusal *snapshot_operation_due(struct operation *operation)
{
    struct snapshot *snapshot = snapshot_find(operation->model, operation->target);

    if (operation->kind == OPERATION_SNAPSHOT_DELETE)
        snapshot_remove(snapshot);
    if (operation->kind == OPERATION_SNAPSHOT_REVOKE)
        snapshot->access_until_us = 0;
    return NULL;
}

void snapshot_operation_ended(struct operation *operation)
{
    struct snapshot *snapshot = snapshot_find(operation->model, operation->target);

    if (!snapshot)
        return;
    snapshot->operation = NULL;
    snapshot->provisioning = operation->refusal && operation->kind != OPERATION_SNAPSHOT_DELETE
                                 ? PROVISIONING_FAILED
                                 : PROVISIONING_SUCCEEDED;
    model_changed_snapshot(operation->model, snapshot);
}
