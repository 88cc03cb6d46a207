#include "test/azsim/model/disk.h"

#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/access.h"
#include "test/azsim/model/attachment.h"
#include "test/azsim/model/region.h"
#include "test/azsim/model/snapshot.h"
#include "test/azsim/model/source.h"

/* Standard, StandardSSD and Premium disks do not pass it while a VM runs with them. */
enum { ONLINE_RESIZE_BORDER_GIB = 4096 };

#define DAY_US (24LL * 60 * 60 * 1000 * 1000)

/* Members that Azure sets, whatever a client sends; IOPS, throughput and tier are those of the size
 * and are kept only for SKUs that let clients choose. */
static const char *const read_only[] = {"id",
                                        "name",
                                        "type",
                                        "managedBy",
                                        "managedByExtended",
                                        "systemData",
                                        "sku.tier",
                                        "properties.tier",
                                        "properties.shareInfo",
                                        "properties.timeCreated",
                                        "properties.uniqueId",
                                        "properties.diskState",
                                        "properties.provisioningState",
                                        "properties.diskSizeBytes",
                                        "properties.LastOwnershipUpdateTime",
                                        "properties.burstingEnabledTime",
                                        "properties.propertyUpdatesInProgress",
                                        NULL};
static const char *const performance[] = {"properties.diskIOPSReadWrite",
                                          "properties.diskMBpsReadWrite", NULL};

static const char *const state_names[] = {
    [DISK_STATE_UNATTACHED] = "Unattached",
    [DISK_STATE_ATTACHED] = "Attached",
    [DISK_STATE_RESERVED] = "Reserved",
    [DISK_STATE_FROZEN] = "Frozen",
};

struct disk *disk_find(const struct model *model, const char *key)
{
    struct disk *disk;

    HASH_FIND_STR(model->disks, key, disk);
    return disk;
}

const char *disk_location(const struct disk *disk)
{
    return resource_text(disk->body, "location", disk->model->location);
}

enum disk_state disk_state(const struct disk *disk)
{
    enum disk_state state = DISK_STATE_UNATTACHED;

    LIST_FOREACH(&disk->attachments, link) {
        enum power power = ATTACHMENT_OF_DISK(link)->vm->power;

        if (!ATTACHMENT_OF_DISK(link)->attached)
            continue;
        if (power != POWER_DEALLOCATED && power != POWER_HIBERNATED)
            return DISK_STATE_ATTACHED;
        if (power == POWER_HIBERNATED || state == DISK_STATE_UNATTACHED)
            state = power == POWER_HIBERNATED ? DISK_STATE_FROZEN : DISK_STATE_RESERVED;
    }
    return state;
}

const char *disk_state_name(enum disk_state state)
{
    return state_names[state];
}

struct vm *disk_owner(const struct disk *disk)
{
    LIST_FOREACH(&disk->attachments, link) {
        if (ATTACHMENT_OF_DISK(link)->attached)
            return ATTACHMENT_OF_DISK(link)->vm;
    }
    return NULL;
}

enum provisioning disk_provisioning(const struct disk *disk)
{
    return loop_now(disk->model->loop) < disk->updating_until ? PROVISIONING_UPDATING
                                                              : disk->provisioning;
}

struct disk *disk_new(struct model *model, struct group *group, const char *name, json_t *body,
                      uint64_t sequence)
{
    struct disk *disk = mem_alloc(sizeof *disk);
    struct refusal *refusal = disk_spec_read(body, name, &disk->spec);

    if (refusal)
        abort();
    disk->model = model;
    disk->group = group;
    disk->name = mem_strdup(name);
    disk->id = group_resource_id(group, "disks", name);
    disk->key = resource_key(disk->id);
    disk->body = body;
    disk->sequence = sequence;
    list_init(&disk->attachments);
    HASH_ADD_KEYPTR(hh, model->disks, disk->key, strlen(disk->key), disk);
    return disk;
}

void disk_free(struct disk *disk)
{
    HASH_DEL(disk->model->disks, disk);
    json_decref(disk->body);
    ownership_fini(disk);
    free(disk->attaching_vm);
    free(disk->name);
    free(disk->id);
    free(disk->key);
    free(disk);
}

/* ---- create ---- */

static struct refusal *check_location(const struct model *model, const json_t *body)
{
    const char *location = resource_text(body, "location", NULL);

    if (!location)
        return refuse(LOCATION_REQUIRED);
    if (region_find(model, location))
        return NULL;
    CLEANUP(freep) char *list = region_list(model);
    return refuse(LOCATION_NOT_AVAILABLE, location, "disks", list);
}

/* What Azure fills in when a client leaves it out. */
static json_t *with_defaults(const struct model *model, const json_t *sent)
{
    json_t *body = json_pack("{s:{s:s}, s:{s:{s:s}, s:s, s:s}}", "sku", "name", "Standard_LRS",
                             "properties", "encryption", "type", "EncryptionAtRestWithPlatformKey",
                             "networkAccessPolicy", "AllowAll", "publicNetworkAccess", "Enabled");

    resource_merge(body, sent);
    json_object_set_new(body, "location",
                        json_string(region_find(model, resource_text(sent, "location", ""))));
    return body;
}

/* The body as it is kept, once its spec has been read. */
static void tidy(json_t *body, const struct disk_spec *spec)
{
    json_object_set_new(json_object_get(body, "sku"), "name", json_string(spec->sku->name));
    resource_strip(body, read_only);
    if (!disk_performance_is_settable(spec->sku))
        resource_strip(body, performance);
}

/* The size is that of the source, or more. */
static struct refusal *fill_from_source(json_t *body, const struct source *source)
{
    json_t *properties = json_object_get(body, "properties");
    int64_t least = source_size_gib(source);

    if (!least)
        return NULL;
    if (!json_object_get(properties, "diskSizeGB"))
        json_object_set_new(properties, "diskSizeGB", json_integer(least));
    json_int_t size = json_integer_value(json_object_get(properties, "diskSizeGB"));
    json_object_set_new(resource_get(body, "properties.creationData"), "sourceUniqueId",
                        json_string(source_unique_id(source)));
    return size < least ? refuse(SOURCE_LARGER, (long long)size, (long long)least) : NULL;
}

static struct refusal *check_source(const struct disk_spec *spec, const struct source *source,
                                    const char *name)
{
    if (source->disk && !source->disk->spec.sku->zone_redundant && !spec->sku->zone_redundant &&
        strcmp(source->disk->spec.zone, spec->zone) != 0)
        return refuse(SOURCE_ZONE_DIFFERS, name, source->disk->id);
    if (source->snapshot && source->snapshot->sectors_4k &&
        !disk_performance_is_settable(spec->sku))
        return refuse(SOURCE_SECTORS_DIFFER, source->snapshot->id, spec->sku->name);
    return NULL;
}

/* A body that has become complete, with what has been read of it. */
static struct refusal *read_new(const struct model *model, const char *name, json_t *body,
                                struct source *ret_source)
{
    struct disk_spec spec;

    REQUIRE(source_find(model, body, ret_source));
    REQUIRE(fill_from_source(body, ret_source));
    REQUIRE(disk_spec_read(body, name, &spec));
    REQUIRE(check_source(&spec, ret_source, name));
    tidy(body, &spec);
    return NULL;
}

/* Takes over what the source has; where that is slow, bit by bit. */
static struct refusal *copy_source(struct disk *disk, const struct source *source)
{
    struct model *model = disk->model;
    bool slow = source_is_slow(source) || disk_performance_is_settable(disk->spec.sku);

    if (!source_unique_id(source))
        return NULL;
    if (slow)
        disk->copy = (struct copy){.start_us = disk->created_us,
                                   .end_us = disk->created_us +
                                             (int64_t)model_draw(model, LATENCY_COPY) * 1000};
    return model_copy_content(model, source_unique_id(source), disk->unique_id);
}

static struct refusal *disk_create(struct model *model, struct group *group, const char *name,
                                   const json_t *sent, struct disk **ret_disk,
                                   struct operation **ret)
{
    struct source source;

    REQUIRE(check_location(model, sent));
    if (HASH_COUNT(model->disks) >= MODEL_MAX_DISKS)
        return refuse(QUOTA_EXCEEDED, "DiskCount", model->location, (long long)MODEL_MAX_DISKS,
                      (long long)HASH_COUNT(model->disks));

    json_t *body = with_defaults(model, sent);
    struct refusal *refusal = read_new(model, name, body, &source);
    if (refusal) {
        json_decref(body);
        return refusal;
    }
    struct disk *disk = disk_new(model, group, name, body, ++model->sequence);
    disk->provisioning = PROVISIONING_UPDATING;
    disk->created_us = model_now_us(model);
    random_uuid(loop_random(model->loop), disk->unique_id);
    refusal = copy_source(disk, &source);
    if (refusal) {
        disk_free(disk);
        return refusal;
    }
    disk->operation =
        operation_start(model, OPERATION_DISK_CREATE, disk->key, model_draw(model, LATENCY_CREATE));
    *ret_disk = disk;
    *ret = disk->operation;
    model_changed_disk(model, disk);
    model_commit(model);
    return NULL;
}

/* ---- update ---- */

static struct refusal *check_resize(const struct disk *disk, const struct disk_spec *to)
{
    const struct disk_spec *from = &disk->spec;

    if (to->size_gib < from->size_gib)
        return refuse(DISK_SHRINKS, disk->id);
    if (to->size_gib == from->size_gib)
        return NULL;
    if (!copy_is_done(&disk->copy, model_now_us(disk->model)))
        return refuse(RESIZE_WHILE_COPYING, disk->name);
    if (disk_state(disk) != DISK_STATE_ATTACHED)
        return NULL;
    bool crosses = !disk_performance_is_settable(from->sku) &&
                   from->size_gib < ONLINE_RESIZE_BORDER_GIB &&
                   to->size_gib >= ONLINE_RESIZE_BORDER_GIB;
    if (from->max_shares == 1 && !crosses)
        return NULL;
    return refusal_with_inner(refuse(RESIZE_WHILE_ATTACHED, disk->name, disk_owner(disk)->id),
                              "ChangeDiskSizeWhileAttachedNotAllowed");
}

bool disk_is_cached(const struct disk *disk)
{
    LIST_FOREACH(&disk->attachments, link) {
        const struct attachment *attachment = ATTACHMENT_OF_DISK(link);
        const struct data_disk *item = data_disks_find(&attachment->vm->data_disks, disk->key);

        if (item && strcasecmp(resource_text(item->entry, "caching", "None"), "None") != 0)
            return true;
    }
    return false;
}

static struct refusal *check_sku_change(const struct disk *disk, const struct disk_spec *to)
{
    const struct disk_sku *from = disk->spec.sku;

    if (to->sku == from)
        return NULL;
    if (to->sku->zone_redundant != from->zone_redundant || to->sku->family == DISK_ULTRA ||
        from->family == DISK_ULTRA || from->family == DISK_PREMIUM_V2)
        return refuse(PROPERTY_CHANGE_NOT_ALLOWED("sku.name"), "sku.name");
    if (disk_state(disk) != DISK_STATE_ATTACHED)
        return NULL;
    if (to->sku->family != DISK_PREMIUM_V2 || disk->spec.max_shares > 1)
        return refuse(CHANGE_WHILE_ATTACHED, "the sku", disk->name, disk_owner(disk)->id);
    return disk_is_cached(disk) ? refuse(CONVERT_WHILE_CACHED, disk->name, disk_owner(disk)->id)
                                : NULL;
}

static bool performs_otherwise(const struct disk *disk, const struct disk_spec *to)
{
    return to->sku == disk->spec.sku && to->size_gib == disk->spec.size_gib &&
           disk_performance_is_settable(to->sku) &&
           (to->iops != disk->spec.iops || to->mbps != disk->spec.mbps);
}

/* Times are of changes, the newest first; the day's last one must be before that. */
static struct refusal *check_pace(const struct disk *disk, const int64_t *times, size_t n,
                                  const char *what)
{
    int64_t oldest = times[n - 1];

    return oldest && model_now_us(disk->model) - oldest < DAY_US
               ? refuse(CHANGED_TOO_OFTEN, what, disk->name, n)
               : NULL;
}

static void note_time(const struct disk *disk, int64_t *times, size_t n)
{
    memmove(times + 1, times, (n - 1) * sizeof *times);
    times[0] = model_now_us(disk->model);
}

static struct refusal *check_paces(const struct disk *disk, const struct disk_spec *to)
{
    if (to->sku != disk->spec.sku)
        return check_pace(disk, disk->sku_times, COUNT_OF(disk->sku_times), "sku");
    if (performs_otherwise(disk, to))
        return check_pace(disk, disk->performance_times, COUNT_OF(disk->performance_times),
                          "performance");
    return NULL;
}

/* The data of a disk that becomes PremiumV2 follows bit by bit. */
static void begin_change(struct disk *disk, const struct disk_spec *to)
{
    int64_t now = model_now_us(disk->model);

    if (to->sku != disk->spec.sku)
        note_time(disk, disk->sku_times, COUNT_OF(disk->sku_times));
    else if (performs_otherwise(disk, to))
        note_time(disk, disk->performance_times, COUNT_OF(disk->performance_times));
    if (to->sku != disk->spec.sku && to->sku->family == DISK_PREMIUM_V2)
        disk->copy = (struct copy){
            .start_us = now, .end_us = now + (int64_t)model_draw(disk->model, LATENCY_COPY) * 1000};
    if (to->size_gib > disk->spec.size_gib)
        snapshot_fail_pending(disk);
}

static struct refusal *check_max_shares_change(const struct disk *disk, const struct disk_spec *to)
{
    if (to->max_shares == disk->spec.max_shares || !disk_owner(disk))
        return NULL;
    return refuse(CHANGE_WHILE_ATTACHED, "maxShares", disk->name, disk_owner(disk)->id);
}

static struct refusal *check_change(const struct disk *disk, const json_t *body,
                                    struct disk_spec *ret)
{
    REQUIRE(disk_spec_check_change(disk->body, body));
    REQUIRE(disk_spec_read(body, disk->name, ret));
    REQUIRE(check_resize(disk, ret));
    REQUIRE(check_sku_change(disk, ret));
    REQUIRE(check_paces(disk, ret));
    return check_max_shares_change(disk, ret);
}

struct refusal *disk_patch(struct disk *disk, const json_t *change, struct operation **ret)
{
    struct model *model = disk->model;
    struct disk_spec spec;

    if (disk->operation)
        return refuse(CONCURRENT_REQUEST);

    json_t *body = json_deep_copy(disk->body);
    resource_merge(body, change);
    json_object_set_new(body, "location", json_string(disk_location(disk)));
    struct refusal *refusal = check_change(disk, body, &spec);
    if (refusal) {
        json_decref(body);
        return refusal;
    }
    tidy(body, &spec);
    begin_change(disk, &spec);
    json_decref(disk->body);
    disk->body = body;
    if (disk_spec_read(body, disk->name, &disk->spec))
        abort();
    disk->provisioning = PROVISIONING_UPDATING;
    disk->operation =
        operation_start(model, OPERATION_DISK_UPDATE, disk->key, model_draw(model, LATENCY_UPDATE));
    *ret = disk->operation;
    model_changed_disk(model, disk);
    model_commit(model);
    return NULL;
}

struct refusal *disk_put(struct model *model, struct group *group, const char *name,
                         const json_t *body, struct disk **ret_disk, struct operation **ret)
{
    CLEANUP(freep)
    char *id = group_resource_id(group, "disks", name);
    CLEANUP(freep) char *key = resource_key(id);
    struct disk *disk = disk_find(model, key);

    if (!disk)
        return disk_create(model, group, name, body, ret_disk, ret);

    const char *location = resource_text(body, "location", NULL);
    if (!location)
        return refuse(LOCATION_REQUIRED);
    if (!region_is_same(disk_location(disk), location))
        return refuse(LOCATION_DIFFERS, disk->name, disk_location(disk), group->name, location);
    REQUIRE(disk_patch(disk, body, ret));
    *ret_disk = disk;
    return NULL;
}

/* ---- delete ---- */

struct refusal *disk_delete(struct disk *disk, struct operation **ret)
{
    struct model *model = disk->model;

    if (disk_owner(disk))
        return refuse(DISK_ATTACHED, disk->name, disk_owner(disk)->id);
    if (disk->operation)
        return refuse(CONCURRENT_REQUEST);
    if (disk_is_accessed(disk))
        return refuse(ACCESS_IS_GRANTED, "disk", disk->name);
    disk->provisioning = PROVISIONING_DELETING;
    disk->operation =
        operation_start(model, OPERATION_DISK_DELETE, disk->key, model_draw(model, LATENCY_DELETE));
    *ret = disk->operation;
    model_changed_disk(model, disk);
    model_commit(model);
    return NULL;
}

void disk_remove(struct disk *disk)
{
    struct model *model = disk->model;
    struct list *link;

    while ((link = disk->attachments.next) != &disk->attachments) {
        model_changed_vm(model, ATTACHMENT_OF_DISK(link)->vm);
        attachment_end(ATTACHMENT_OF_DISK(link));
    }
    if (model->devices)
        model->devices->remove(model->devices_ctx, disk->unique_id);
    model_gone(model, "disks", disk->key);
    disk_free(disk);
}

/* ---- ends of operations ---- */

struct refusal *disk_operation_due(struct operation *operation)
{
    struct model *model = operation->model;
    struct disk *disk = disk_find(model, operation->target);

    if (operation->kind == OPERATION_DISK_DELETE) {
        if (disk_owner(disk))
            return refuse(DISK_ATTACHED, disk->name, disk_owner(disk)->id);
        disk_remove(disk);
    }
    if (operation->kind == OPERATION_DISK_REVOKE)
        disk->access_until_us = 0;
    if (operation->kind == OPERATION_DISK_UPDATE && model->devices)
        model->devices->resize(model->devices_ctx, disk);
    return NULL;
}

void disk_operation_ended(struct operation *operation)
{
    struct disk *disk = disk_find(operation->model, operation->target);

    if (!disk)
        return;
    disk->operation = NULL;
    disk->provisioning = operation->refusal && operation->kind != OPERATION_DISK_DELETE
                             ? PROVISIONING_FAILED
                             : PROVISIONING_SUCCEEDED;
    model_changed_disk(operation->model, disk);
}
