#include "test/sim/record.h"

#include <stdlib.h>
#include <string.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "test/azsim/model/resource.h"
#include "test/sim/azure_side.h"
#include "test/sim/coverage.h"
#include "test/sim/invariant.h"
#include "test/sim/sim.h"

/* ---- reading JSON ---- */

static const json_t *member(const json_t *json, const char *first, const char *second)
{
    return json_object_get(json_object_get(json, first), second);
}

static const char *text(const json_t *json)
{
    const char *string = json_string_value(json);

    return string ? string : "";
}

static const char *volume_state_word(const char *state)
{
    static const char *const words[] = {"Updating", "Updated", "UpdateFailed"};

    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strcmp(words[i], state) == 0)
            return words[i];
    return "";
}

const char *record_state_word(const char *state)
{
    static const char *const words[] = {
        STATE_ATTACHING, STATE_ATTACHED, STATE_ATTACHMENT_FAILED,
        STATE_DETACHING, STATE_DETACHED, STATE_DETACHMENT_FAILED,
    };

    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strcmp(words[i], state) == 0)
            return words[i];
    return "";
}

/* ---- the table ---- */

static struct volume_record *find_volume(const struct records *records, const char *name)
{
    struct volume_record *volume;

    HASH_FIND_STR(records->volumes, name, volume);
    return volume;
}

static struct volume_record *get_volume(struct records *records, const char *name)
{
    struct volume_record *volume = find_volume(records, name);

    if (volume)
        return volume;
    volume = mem_alloc(sizeof *volume);
    volume->name = mem_strdup(name);
    volume->state = "";
    list_init(&volume->attachments);
    HASH_ADD_KEYPTR(hh, records->volumes, volume->name, strlen(volume->name), volume);
    return volume;
}

static struct volume_record *find_by_disk(const struct records *records, const char *disk)
{
    struct volume_record *volume;

    HASH_FIND(by_disk, records->by_disk, disk, strlen(disk), volume);
    return volume;
}

static void forget_disk(struct records *records, struct volume_record *volume)
{
    if (volume->disk && find_by_disk(records, volume->disk) == volume)
        HASH_DELETE(by_disk, records->by_disk, volume);
}

static void set_disk(struct records *records, struct volume_record *volume, const char *disk)
{
    struct volume_record *former = find_by_disk(records, disk);

    if (former == volume)
        return;
    if (former)
        forget_disk(records, former);
    forget_disk(records, volume);
    if (volume->disk && strcmp(volume->disk, disk) != 0) {
        volume->published = 0;
        coverage_count("AzVolume", "name", "passes to another disk");
    }
    free(volume->disk);
    volume->disk = mem_strdup(disk);
    HASH_ADD_KEYPTR(by_disk, records->by_disk, volume->disk, strlen(volume->disk), volume);
}

static struct record *find(const struct volume_record *volume, const char *node)
{
    LIST_FOREACH(&volume->attachments, link) {
        if (strcmp(RECORD_OF(link)->node, node) == 0)
            return RECORD_OF(link);
    }
    return NULL;
}

static void record_free(struct record *record)
{
    list_remove(&record->link);
    free(record->name);
    free(record->disk);
    free(record->node);
    free(record);
}

void records_fini(struct records *records)
{
    HASH_FOREACH(records->volumes, volume) {
        LIST_FOREACH(&volume->attachments, link) {
            record_free(RECORD_OF(link));
        }
        forget_disk(records, volume);
        HASH_DEL(records->volumes, volume);
        free(volume->name);
        free(volume->disk);
        free(volume->primary_nodes);
        free(volume);
    }
}

/* ---- changes ---- */

static int lun_of(const json_t *detail)
{
    const char *lun = text(member(detail, "publish_context", CONTEXT_LUN));

    return lun[0] ? (int)strtol(lun, NULL, 10) : -1;
}

static bool is_attached(const char *state)
{
    return state && strcmp(state, "Attached") == 0;
}

static void read_record(struct record *record, const json_t *json, uint64_t now)
{
    const json_t *status = json_object_get(json, "status");
    const json_t *detail = json_object_get(status, "detail");
    const char *state = record_state_word(text(json_object_get(status, "state")));
    bool primary = strcmp(text(member(json, "spec", "role")), ROLE_PRIMARY) == 0;

    if (primary && !record->primary)
        record->promoted = now;
    if (primary != record->primary || is_attached(state) != is_attached(record->state))
        record->since = now;
    record->primary = primary;
    record->is_primary = strcmp(text(json_object_get(detail, "role")), ROLE_PRIMARY) == 0;
    record->state = state;
    record->lun = lun_of(detail);
    record->bytes = strtoll(text(member(detail, "publish_context", CONTEXT_SIZE)), NULL, 10);
    record->deleting = member(json, "metadata", "deletionTimestamp") != NULL;
    if (record->deleting && !record->deleted)
        record->deleted = now;
    record->detach_requested = member(status, "annotation", ANNOTATION_DETACH_REQUEST) != NULL;
}

static struct record *record_new(struct volume_record *volume, const json_t *json, uint64_t now)
{
    struct record *record = mem_alloc(sizeof *record);

    record->volume = volume;
    record->name = mem_strdup(text(member(json, "metadata", "name")));
    record->disk = resource_key(text(member(json, "spec", "volume_id")));
    record->node = mem_strdup(text(member(json, "spec", "nodeName")));
    record->created = record->since = now;
    list_append(&volume->attachments, &record->link);
    return record;
}

static const char *role_word(const struct record *record)
{
    return record->deleting ? "deleting" : record->primary ? "primary" : "replica";
}

/* One that goes is wanted no more. */
static bool has_primary(const struct volume_record *volume)
{
    LIST_FOREACH(&volume->attachments, link) {
        if (RECORD_OF(link)->primary && !RECORD_OF(link)->deleting)
            return true;
    }
    return false;
}

void records_see_attachment(struct records *records, const json_t *before, const json_t *after)
{
    const json_t *json = after ? after : before;
    struct volume_record *volume = get_volume(records, text(member(json, "spec", "volumeName")));
    const char *node = text(member(json, "spec", "nodeName"));
    struct record *record = find(volume, node);
    uint64_t now = loop_now(records->sim->loop);

    if (has_primary(volume))
        volume->published = now;
    if (!after) {
        if (record)
            record_free(record);
        return;
    }
    if (!record)
        record = record_new(volume, json, now);
    if (!volume->exists)
        set_disk(records, volume, record->disk);
    const char *former = record->state ? record->state : "";
    read_record(record, after, now);
    if (former != record->state)
        coverage_count("reached", record->state, role_word(record));
    sim_note(records->sim, "attachment %s of %s is %s %s, LUN %d", volume->name, node,
             role_word(record), record->state, record->lun);
}

static bool is_modifying(const json_t *volume)
{
    const json_t *wanted = member(volume, "spec", "mutableParameters");

    return wanted && !json_equal(wanted, member(volume, "status", "mutableParameters")) &&
           !member(volume, "status", "modifyError");
}

/* NULL for what is no id: upstream's driver notes "true". */
static const char *id_or_null(const json_t *json)
{
    const char *id = json_string_value(json);

    return id && id[0] == '/' ? id : NULL;
}

/* The key of the disk that an AzVolume says it is about; one that says nothing is to be made. */
static char *disk_of(const struct sim *sim, const json_t *volume)
{
    const json_t *status = json_object_get(volume, "status");
    const json_t *annotations = member(volume, "metadata", "annotations");
    const json_t *const places[] = {
        member(status, "detail", "volume_id"),
        member(status, "annotation", ANNOTATION_PRE_PROVISIONED),
        json_object_get(annotations, ANNOTATION_PRE_PROVISIONED),
        json_object_get(annotations, ANNOTATION_DISK),
    };

    for (size_t i = 0; i < COUNT_OF(places); i++)
        if (id_or_null(places[i]))
            return resource_key(id_or_null(places[i]));
    return azure_side_disk_key(sim->azure, &sim->landscape,
                               text(member(volume, "spec", "volumeName")));
}

void records_see_volume(struct records *records, const json_t *before, const json_t *after)
{
    const json_t *json = after ? after : before;
    struct volume_record *volume = get_volume(records, text(member(json, "metadata", "name")));
    CLEANUP(freep) char *disk = disk_of(records->sim, json);

    if (after || !volume->disk)
        set_disk(records, volume, disk);
    if (!before && strchr(volume->name, '.'))
        coverage_count("AzVolume", "name", "with a hash");
    volume->exists = after != NULL;
    volume->deleting = member(json, "metadata", "deletionTimestamp") != NULL;
    volume->state = volume_state_word(text(member(json, "status", "state")));
    volume->bytes =
        json_integer_value(json_object_get(member(json, "status", "detail"), "capacity_bytes"));
    volume->wanted_bytes = json_integer_value(
        json_object_get(member(json, "spec", "capacityRange"), "required_bytes"));
    volume->modifying = is_modifying(json);
    volume->created = volume->bytes > 0;
    volume->replicas = (unsigned)json_integer_value(member(json, "spec", "maxMountReplicaCount"));
    free(volume->primary_nodes);
    volume->primary_nodes = mem_strdup(text(member(json, "status", "primaryNode")));
    volume->ready = (unsigned)json_integer_value(member(json, "status", "readyReplicas"));
}

void records_see_operation(const struct records *records, const char *disk, const char *node,
                           const char *operation)
{
    const struct volume_record *volume = find_by_disk(records, disk);
    struct record *record = volume ? find(volume, node) : NULL;

    if (record)
        snprintf(record->attaching, sizeof record->attaching, "%s", operation);
}

/* ---- asking ---- */

const struct volume_record *record_volume(const struct sim *sim, const char *disk)
{
    return find_by_disk(invariants_records(sim->invariants), disk);
}

const struct volume_record *record_named(const struct sim *sim, const char *name)
{
    return find_volume(invariants_records(sim->invariants), name);
}

const struct record *record_on(const struct volume_record *volume, const char *node)
{
    return find(volume, node);
}

const struct record *record_find(const struct sim *sim, const char *disk, const char *node)
{
    const struct volume_record *volume = record_volume(sim, disk);

    return volume ? find(volume, node) : NULL;
}

unsigned record_shares_held(const struct volume_record *volume)
{
    unsigned held = 0;

    LIST_FOREACH(&volume->attachments, link) {
        held += RECORD_OF(link)->lun >= 0;
    }
    return held;
}
