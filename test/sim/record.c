#include "test/sim/record.h"

#include <stdlib.h>
#include <string.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"
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
    free(record->node);
    free(record);
}

void records_fini(struct records *records)
{
    HASH_FOREACH(records->volumes, volume) {
        LIST_FOREACH(&volume->attachments, link) {
            record_free(RECORD_OF(link));
        }
        HASH_DEL(records->volumes, volume);
        free(volume->name);
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

static struct record *record_new(struct volume_record *volume, const char *name, const char *node,
                                 uint64_t now)
{
    struct record *record = mem_alloc(sizeof *record);

    record->volume = volume;
    record->name = mem_strdup(name);
    record->node = mem_strdup(node);
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
        record = record_new(volume, text(member(json, "metadata", "name")), node, now);
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

void records_see_volume(struct records *records, const json_t *before, const json_t *after)
{
    const json_t *json = after ? after : before;
    struct volume_record *volume = get_volume(records, text(member(json, "metadata", "name")));

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

/* ---- asking ---- */

const struct volume_record *record_volume(const struct sim *sim, const char *name)
{
    return find_volume(invariants_records(sim->invariants), name);
}

const struct record *record_find(const struct sim *sim, const char *volume, const char *node)
{
    const struct volume_record *found = record_volume(sim, volume);

    return found ? find(found, node) : NULL;
}

unsigned record_shares_held(const struct volume_record *volume)
{
    unsigned held = 0;

    LIST_FOREACH(&volume->attachments, link) {
        held += RECORD_OF(link)->lun >= 0;
    }
    return held;
}
