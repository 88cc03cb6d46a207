#include "provisioner-lib/azure/disk_snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/api/compute.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "provisioner-lib/azure/arm_list.h"
#include "provisioner-lib/azure/creation.h"
#include "provisioner-lib/azure/managed_disk.h"
#include "provisioner-lib/azure/resource_id.h"

struct err *disk_snapshot_id(const struct cloud_snapshot_spec *spec, char **ret_id)
{
    const struct snapshot_parameters *p = spec->parameters;
    CLEANUP(resource_id_fini) struct resource_id disk = {0};

    TRY(resource_id_parse(spec->disk_id, &disk));
    *ret_id = resource_id_format(p->subscription ? p->subscription : disk.subscription,
                                 p->resource_group ? p->resource_group : disk.resource_group,
                                 "snapshots", spec->name);
    return NULL;
}

/* ---- what is read ---- */

static bool is_text(const char *text, const char *word)
{
    return text && strcasecmp(text, word) == 0;
}

static bool is_copy(const Arm__Snapshot *snapshot)
{
    const Arm__CreationData *creation = snapshot->properties->creation_data;

    return creation && is_text(creation->create_option, "CopyStart");
}

/* NULL if it has no such tag. */
static const char *tag_of(const Arm__Snapshot *snapshot, const char *name)
{
    for (size_t i = 0; i < snapshot->n_tags; i++)
        if (strcasecmp(snapshot->tags[i]->key, name) == 0)
            return snapshot->tags[i]->value;
    return NULL;
}

/* Of a copy, that is the snapshot which it was copied from, unless a tag says more. */
static const char *disk_of(const Arm__Snapshot *snapshot)
{
    const Arm__CreationData *creation = snapshot->properties->creation_data;
    const char *source = creation ? creation->source_resource_id : NULL;
    const char *tag = is_copy(snapshot) ? tag_of(snapshot, TAG_COPY_OF_DISK) : NULL;

    return tag ? tag : source ? source : "";
}

static int64_t taken_us(const Arm__Snapshot *snapshot)
{
    int64_t us = is_copy(snapshot) ? timestamp_noted(tag_of(snapshot, TAG_COPY_TAKEN_AT)) : 0;

    return us ? us : timestamp_noted(snapshot->properties->time_created);
}

/* That the operation has ended says nothing: data that is copied in the background may come later.
 * Of disks whose data is not, Azure says no percentage, or 100. */
static bool is_ready(const Arm__SnapshotProperties *properties)
{
    const char *access = properties->snapshot_access_state;

    if (!is_text(properties->provisioning_state, "Succeeded") || properties->copy_completion_error)
        return false;
    if (is_text(access, "Available") || is_text(access, "InstantAccess") ||
        is_text(access, "AvailableWithInstantAccess"))
        return true;
    return !is_text(access, "Pending") &&
           (!properties->has_completion_percent || properties->completion_percent >= 100);
}

static int percent_of(const Arm__SnapshotProperties *properties)
{
    double percent = properties->has_completion_percent ? properties->completion_percent : 100;

    return percent >= 100 ? 100 : percent > 0 ? (int)percent : 0;
}

static char *failure_of(const Arm__SnapshotProperties *properties)
{
    const Arm__CopyCompletionError *error = properties->copy_completion_error;

    return error ? mem_printf("%s: %s", error->error_code ? error->error_code : "no code",
                              error->error_message ? error->error_message : "no reason given")
                 : NULL;
}

static void describe(const Arm__Snapshot *snapshot, struct cloud_snapshot *ret)
{
    const Arm__SnapshotProperties *properties = snapshot->properties;
    CLEANUP(freep) struct parameter *tags = PARAMETER_LIST(snapshot->tags, snapshot->n_tags);
    const struct disk_mark mark = disk_mark_of_tags(tags, snapshot->n_tags);
    int64_t gib = properties->disk_size_gb;

    *ret = (struct cloud_snapshot){
        .id = mem_strdup(snapshot->id),
        .disk_id = mem_strdup(disk_of(snapshot)),
        .region = mem_strdup(snapshot->location ? snapshot->location : ""),
        .is_copy = is_copy(snapshot),
        .made = creation_state_of(properties->provisioning_state) == CREATION_DONE,
        .size_bytes = gib > 0 && gib <= INT64_MAX / GIB ? gib * GIB : 0,
        .made_us = timestamp_noted(snapshot->properties->time_created),
        .taken_us = taken_us(snapshot),
        .percent = percent_of(properties),
        .ready = is_ready(properties),
        .failure = failure_of(properties),
        .mark = disk_mark_copy(&mark),
    };
}

static struct err *read_snapshot(struct task *self, struct arm_client *arm, const char *id,
                                 struct arena *arena, const Arm__Snapshot **ret)
{
    const ProtobufCMessage *decoded;

    TRY(arm_client_get(self, arm, &(struct arm_request){.kind = ARM_DISK_READ, .path = id},
                       &arm__snapshot__descriptor, arena, &decoded));
    *ret = (const Arm__Snapshot *)decoded;
    if (!(*ret)->id || !(*ret)->properties)
        return err_new(ERR_INTERNAL, "GET %s: the snapshot lacks its id or properties", id);
    return NULL;
}

struct err *disk_snapshot_get(struct task *self, struct arm_client *arm, const char *id,
                              struct cloud_snapshot *ret)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const Arm__Snapshot *snapshot;

    TRY(read_snapshot(self, arm, id, arena, &snapshot));
    describe(snapshot, ret);
    return NULL;
}

static const char *take_page(void *ctx, const ProtobufCMessage *message)
{
    const Arm__SnapshotsPage *page = (const Arm__SnapshotsPage *)message;
    struct cloud_snapshots *snapshots = ctx;

    for (size_t i = 0; i < page->n_value; i++)
        if (page->value[i]->id && page->value[i]->properties)
            describe(page->value[i], &ARRAY_ADD(snapshots->items, snapshots->n));
    return page->next_link;
}

struct err *disk_snapshot_list(struct task *self, struct arm_client *arm, const char *id,
                               struct cloud_snapshots *ret)
{
    CLEANUP(freep) char *path = resource_id_collection(id);

    return arm_list(
        self, arm,
        &(struct arm_request){.kind = ARM_DISK_READ, .path = path, .urgency = CLOUD_AUDIT},
        &arm__snapshots_page__descriptor, take_page, ret);
}

/* ---- create ---- */

static void set_text(json_t *object, const char *member, const char *value)
{
    if (value)
        json_object_set_new(object, member, json_string(value));
}

static json_t *tags_json(const struct cloud_snapshot_spec *spec)
{
    const struct snapshot_parameters *p = spec->parameters;
    struct parameter mark[DISK_MARK_TAGS];
    json_t *tags = json_object();

    disk_mark_write(&spec->creator, mark);
    parameters_set(tags, p->tags, p->n_tags);
    parameters_set(tags, mark, COUNT_OF(mark));
    set_text(tags, TAG_SNAPSHOT_NAME, p->snapshot_name);
    set_text(tags, TAG_SNAPSHOT_NAMESPACE, p->snapshot_namespace);
    if (spec->source_id) {
        char text[TIMESTAMP_SIZE];

        timestamp_format_micro(spec->taken_us, text);
        set_text(tags, TAG_COPY_OF_DISK, spec->disk_id);
        set_text(tags, TAG_COPY_TAKEN_AT, text);
    }
    return tags;
}

static json_t *body_json(const struct cloud_snapshot_spec *spec, const char *region)
{
    const struct snapshot_parameters *p = spec->parameters;
    json_t *creation =
        json_pack("{s:s, s:s}", "createOption", spec->source_id ? "CopyStart" : "Copy",
                  "sourceResourceId", spec->source_id ? spec->source_id : spec->disk_id);
    json_t *properties =
        json_pack("{s:o, s:b}", "creationData", creation, "incremental", p->incremental);

    if (p->instant_access_minutes)
        json_object_set_new(creation, "instantAccessDurationMinutes",
                            json_integer(p->instant_access_minutes));
    set_text(properties, "networkAccessPolicy", p->network_access);
    set_text(properties, "publicNetworkAccess", p->public_access);
    set_text(properties, "diskAccessId", p->disk_access);
    set_text(properties, "dataAccessAuthMode", p->data_access);
    return json_pack("{s:s, s:o, s:o}", "location", region, "tags", tags_json(spec), "properties",
                     properties);
}

struct snapshot_creation {
    struct arm_client *arm;
    const char *id;
    const struct cloud_snapshot_spec *spec;
    struct cloud_snapshot *ret;
};

static struct err *look(struct task *self, void *ctx, enum creation_state *ret)
{
    const struct snapshot_creation *c = ctx;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(cloud_snapshot_fini) struct cloud_snapshot seen = {0};
    const Arm__Snapshot *snapshot;

    TRY(read_snapshot(self, c->arm, c->id, arena, &snapshot));
    describe(snapshot, &seen);
    TRY(cloud_snapshot_check_same(&seen, c->spec));
    *ret = creation_state_of(snapshot->properties->provisioning_state);
    if (*ret == CREATION_DONE) {
        *c->ret = seen;
        seen = (struct cloud_snapshot){0};
    }
    return NULL;
}

static struct err *put_to(struct task *self, const struct snapshot_creation *c, const char *region)
{
    CLEANUP(json_decrefp) json_t *body = body_json(c->spec, region);

    return arm_client_change(
        self, c->arm,
        &(struct arm_request){
            .kind = ARM_DISK_WRITE, .method = "PUT", .path = c->id, .body = body});
}

static struct err *put(struct task *self, void *ctx)
{
    const struct snapshot_creation *c = ctx;
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};

    TRY(managed_disk_get(self, c->arm, c->spec->disk_id, &disk));
    TRY(snapshot_parameters_check_disk(c->spec->parameters, disk.sku, disk.region));
    if (snapshot_parameters_is_copy(c->spec->parameters, disk.region))
        return err_new(
            ERR_BUSY,
            "snapshot %s is to be in %s, and its disk is in %s: it cannot be taken there, "
            "but has to be copied",
            c->id, c->spec->parameters->location, disk.region);
    return put_to(self, c, disk.region);
}

static struct err *put_copy(struct task *self, void *ctx)
{
    const struct snapshot_creation *c = ctx;

    return put_to(self, c, c->spec->parameters->location);
}

static struct err *carry_out(struct task *self, struct arm_client *arm,
                             const struct cloud_snapshot_spec *spec,
                             struct err *(*put_it)(struct task *self, void *ctx),
                             struct cloud_snapshot *ret)
{
    CLEANUP(freep) char *id = NULL;

    TRY(disk_snapshot_id(spec, &id));
    struct snapshot_creation creation = {arm, id, spec, ret};
    return creation_carry_out(
        self, &(struct creation){
                  .what = "snapshot", .id = id, .look = look, .put = put_it, .ctx = &creation});
}

struct err *disk_snapshot_create(struct task *self, struct arm_client *arm,
                                 const struct cloud_snapshot_spec *spec, struct cloud_snapshot *ret)
{
    return carry_out(self, arm, spec, put, ret);
}

struct err *disk_snapshot_copy(struct task *self, struct arm_client *arm,
                               const struct cloud_snapshot_spec *spec, struct cloud_snapshot *ret)
{
    return carry_out(self, arm, spec, put_copy, ret);
}

/* ---- delete ---- */

/* For an answer that does not say where the deletion can be followed. */
static struct err *check_gone(struct task *self, struct arm_client *arm, const char *id)
{
    CLEANUP(cloud_snapshot_fini) struct cloud_snapshot snapshot = {0};
    struct err *err = disk_snapshot_get(self, arm, id, &snapshot);

    return err ? err_unless(err, ERR_NOT_FOUND)
               : err_new(ERR_BUSY, "snapshot %s is still being deleted", id);
}

struct err *disk_snapshot_delete(struct task *self, struct arm_client *arm, const char *id)
{
    CLEANUP(arm_operation_fini) struct arm_operation operation = {0};

    TRY(err_unless(arm_client_request(self, arm,
                                      &(struct arm_request){
                                          .kind = ARM_DISK_DELETE, .method = "DELETE", .path = id},
                                      NULL, &operation),
                   ERR_NOT_FOUND));
    return operation.url ? arm_operation_wait(self, arm, &operation) : check_gone(self, arm, id);
}
