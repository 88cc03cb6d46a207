/* Invariants of volumes that are made of snapshots or of other volumes: one that was answered has
 * the content of its source, of the one moment of a snapshot, or of a moment since a clone was
 * first asked for; and any other one is empty. */

#include <stdlib.h>
#include <string.h>

#include "lib/api/csi.pb-c.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/disk_sku.h"
#include "provisioner-lib/host/identity.h"
#include "test/azsim/model/resource.h"
#include "test/azsim/model/source.h"
#include "test/sim/azure_side.h"
#include "test/sim/coverage.h"
#include "test/sim/invariant_check.h"

typedef Csi__V1__CreateVolumeRequest create_request;

/* ---- sources ---- */

static const char *source_id(const Csi__V1__VolumeContentSource *source)
{
    if (!source)
        return "";
    return source->type_case == CSI__V1__VOLUME_CONTENT_SOURCE__TYPE_SNAPSHOT
               ? source->snapshot->snapshot_id
               : source->volume->volume_id;
}

/* As Azure has it now; neither, if it is not there or about to go. */
static struct source find_source(const struct sim *sim, const char *id)
{
    CLEANUP(freep) char *key = resource_key(id);
    struct source source = {.disk = disk_find(sim->azure, key),
                            .snapshot = snapshot_find(sim->azure, key)};

    if (source.disk && source.disk->provisioning == PROVISIONING_DELETING)
        source.disk = NULL;
    if (source.snapshot && source.snapshot->provisioning == PROVISIONING_DELETING)
        source.snapshot = NULL;
    return source;
}

/* Of other kinds of disks Azure does not say it. */
static bool is_copied_itself(const struct source *source)
{
    return source->disk && disk_performance_is_settable(source->disk->spec.sku) &&
           !copy_is_done(&source->disk->copy, model_now_us(source->disk->model));
}

static bool is_to_stay(const struct sim *sim, const char *id)
{
    LIST_FOREACH(&sim->world->snapshots, link) {
        const struct volume_snapshot *snapshot = SNAPSHOT_OF(link);

        if (snapshot->id && strcasecmp(snapshot->id, id) == 0)
            return !snapshot->delete_wanted;
    }
    const struct volume *volume = volume_find_by_handle(sim->world, id);
    return volume && !volume->delete_wanted;
}

static const struct volume *volume_named(const struct sim *sim, const char *name)
{
    LIST_FOREACH(&sim->world->volumes, link) {
        if (strcmp(VOLUME_OF(link)->pv, name) == 0)
            return VOLUME_OF(link);
    }
    return NULL;
}

/* ---- what was asked for ---- */

static struct copying *find(const struct invariants *invariants, const create_request *request)
{
    CLEANUP(freep)
    char *key = mem_printf("%s %s", request->name, source_id(request->volume_content_source));
    struct copying *copying;

    HASH_FIND_STR(invariants->copyings, key, copying);
    return copying;
}

static struct copying *get(struct invariants *invariants, const create_request *request)
{
    struct copying *copying = find(invariants, request);

    if (copying)
        return copying;
    copying = mem_alloc(sizeof *copying);
    copying->key = mem_printf("%s %s", request->name, source_id(request->volume_content_source));
    copying->since = loop_now(invariants->sim->loop);
    copying->since_us = model_now_us(invariants->sim->azure);
    HASH_ADD_KEYPTR(hh, invariants->copyings, copying->key, strlen(copying->key), copying);
    return copying;
}

void copyings_fini(struct invariants *invariants)
{
    HASH_FOREACH(invariants->copyings, copying) {
        HASH_DEL(invariants->copyings, copying);
        free(copying->key);
        free(copying);
    }
}

/* Which disk or snapshot it is; that may come while it is asked for. */
static void note_source(struct copying *copying, const struct source *source)
{
    const char *unique_id = source_unique_id(source);

    if (!unique_id || copying->source[0])
        return;
    memcpy(copying->source, unique_id, sizeof copying->source);
    copying->is_snapshot = source->snapshot != NULL;
    copying->gib = source_size_gib(source);
}

void note_copy_question(struct invariants *invariants, const ProtobufCMessage *request)
{
    const create_request *question = (const void *)request;
    const char *id = source_id(question->volume_content_source);
    struct copying *copying = get(invariants, question);
    struct source source = find_source(invariants->sim, id);

    if (!id[0])
        return;
    if (is_copied_itself(&source))
        coverage_count("copy", "asked for", "of what is copied itself");
    if (!source_unique_id(&source) || !is_to_stay(invariants->sim, id))
        copying->was_absent = true;
    note_source(copying, &source);
}

/* ---- what was answered ---- */

static const struct content *content_of_id(const struct sim *sim, const char *unique_id)
{
    return content_of(&sim->azure_side->contents, unique_id);
}

static void check_content(const struct invariants *invariants, const create_request *request,
                          const struct content *has)
{
    struct sim *sim = invariants->sim;
    const struct copying *copying = find(invariants, request);
    const char *id = source_id(request->volume_content_source);

    if (!id[0] && has->origin[0])
        verdict_violated(sim, COPY_OF_SOURCE, "volume %s was to be empty, and is a copy of disk %s",
                         request->name, has->origin);
    if (!id[0])
        return;
    const struct content *source = content_of_id(sim, copying->source);
    bool is_right =
        copying->is_snapshot
            ? strcmp(has->origin, source->origin) == 0 && has->moment == source->moment
            : strcmp(has->origin, source->unique_id) == 0 && has->moment >= copying->since;
    if (!copying->source[0] || !is_right)
        verdict_violated(sim, COPY_OF_SOURCE,
                         "volume %s was to be a copy of %s, and has %s%s, as it was at %.3f s",
                         request->name, id, has->origin[0] ? "the content of disk " : "nothing",
                         has->origin, (double)has->moment / 1000);
}

static void check_size(struct sim *sim, const create_request *request,
                       const Csi__V1__Volume *answer, const struct copying *copying)
{
    int64_t wanted = request->capacity_range->required_bytes;

    if (answer->capacity_bytes < wanted || answer->capacity_bytes < copying->gib * GIB)
        verdict_violated(sim, COPY_OF_SOURCE,
                         "volume %s has %lld bytes, its source %lld, and %lld were asked for",
                         request->name, (long long)answer->capacity_bytes,
                         (long long)(copying->gib * GIB), (long long)wanted);
}

static bool is_of_ancestor(const struct sim *sim, const struct volume *volume, const char *uuid)
{
    const struct copy_source *source = &volume->wish.source;

    while (volume && copy_source_is_any(source)) {
        const char *id = source->volume ? source->volume->handle : source->snapshot->source;
        char derived[UUID_SIZE];

        identity_derive(id, derived);
        if (strncmp(derived, uuid, sizeof derived - 1) == 0)
            return true;
        volume = volume_find_by_handle(sim->world, id);
        source = volume ? &volume->wish.source : NULL;
    }
    return false;
}

/* A node may mount any disk on which it finds one of these. */
static void check_accepted(struct sim *sim, const struct volume *volume, const char *said,
                           const char *uuids)
{
    const char *texts[] = {said ? strchr(said, ' ') + 1 : "", uuids ? uuids : ""};

    for (size_t i = 0; volume && i < COUNT_OF(texts); i++)
        for (const char *uuid = texts[i]; *uuid; uuid += strspn(uuid, " ")) {
            if (!is_of_ancestor(sim, volume, uuid))
                verdict_violated(sim, COPY_IS_KNOWN, "volume %s may have %s, of no disk before it",
                                 volume->pv, uuid);
            uuid += strcspn(uuid, " ");
        }
}

/* The record that nodes go by. What a source had on record may have been lost. */
static void check_provenance(struct sim *sim, const char *name, const char *disk,
                             const struct content *has)
{
    const struct volume_record *record = record_volume(sim, disk);
    const json_t *object =
        record ? kube_server_get(sim->kube, &AZ_VOLUMES, WORLD_NAMESPACE, record->name) : NULL;
    const json_t *notes = json_object_get(json_object_get(object, "status"), "annotation");
    const char *said = json_string_value(json_object_get(notes, ANNOTATION_SOURCE_FILESYSTEM));
    const char *uuids = json_string_value(json_object_get(notes, ANNOTATION_SOURCE_UUIDS));
    CLEANUP(freep) char *is = has->given[0] ? mem_printf("ext4 %s", has->given) : NULL;

    if (!object || json_object_get(notes, ANNOTATION_FILESYSTEM) ||
        (sim->world->records_lost && copy_source_is_untold(volume_named(sim, name))))
        return;
    check_accepted(sim, volume_named(sim, name), said, uuids);
    bool is_known = has->given[0]
                        ? (said && strcmp(said, is) == 0) || (uuids && strstr(uuids, has->given))
                        : !said;
    if (has->origin[0])
        coverage_count("copy's file system", has->given[0] ? "there" : "none",
                       said ? "on record" : "possible");
    if (!is_known)
        verdict_violated(sim, COPY_IS_KNOWN, "%s has file system %s, or perhaps %s, and has %s",
                         disk, said ? said : "none", uuids ? uuids : "none", is ? is : "none");
}

static void check_made(struct invariants *invariants, const create_request *request,
                       const Csi__V1__Volume *answer)
{
    struct sim *sim = invariants->sim;
    CLEANUP(freep) char *key = resource_key(answer->volume_id);
    const struct disk *disk = disk_find(sim->azure, key);
    const char *wanted = source_id(request->volume_content_source);
    const char *said = source_id(answer->content_source);
    struct copying *copying = find(invariants, request);
    struct source source = find_source(sim, wanted);

    if (!disk)
        return; /* check_created() says so */
    note_source(copying, &source);
    memcpy(copying->made, disk->unique_id, sizeof copying->made);
    if (strcasecmp(wanted, said) != 0)
        verdict_violated(sim, CALL_WAS_DONE,
                         "volume %s was to be a copy of \"%s\", is said of \"%s\"", request->name,
                         wanted, said);
    check_content(invariants, request, content_of_id(sim, disk->unique_id));
    check_size(sim, request, answer, copying);
    check_provenance(sim, request->name, key, content_of_id(sim, disk->unique_id));
}

/* Azure makes disks of small sectors of no snapshot with large ones. */
static bool fits(const struct sim *sim, const create_request *request, const struct source *source)
{
    const struct volume *volume = volume_named(sim, request->name);

    return !source->snapshot || !source->snapshot->sectors_4k || (volume && volume->wish.fast);
}

/* Since it was first asked for: the next call takes the size that it has by then. */
static bool has_grown(const struct copying *copying, const struct source *source)
{
    return copying->source[0] && source_size_gib(source) > copying->gib;
}

/* For good; but for what another zone, or another source of the same name, is refused for. */
static bool is_final(const struct err *err)
{
    return !err_is_transient(err) && err_kind(err) != ERR_CANCELED &&
           err_kind(err) != ERR_EXHAUSTED && err_kind(err) != ERR_EXISTS;
}

/* Of one that is there all the time nobody can say that it is not; and while nothing is wrong, it
 * is copied. */
static void check_refused(struct invariants *invariants, const create_request *request,
                          const struct err *err)
{
    const struct sim *sim = invariants->sim;
    const struct copying *copying = find(invariants, request);
    const char *id = source_id(request->volume_content_source);
    struct source source = find_source(sim, id);

    if (copying->was_absent || !source_unique_id(&source) || !is_to_stay(sim, id) || !is_final(err))
        return;
    if (err_kind(err) == ERR_NOT_FOUND ||
        (is_calm(invariants) && fits(sim, request, &source) && !has_grown(copying, &source)))
        verdict_violated(invariants->sim, COPY_IS_MADE,
                         "volume %s: %s is there, and the answer is %s", request->name, id,
                         err_message(err));
}

void check_copy_answer(struct invariants *invariants, const ProtobufCMessage *request,
                       const ProtobufCMessage *response, const struct err *err)
{
    const create_request *question = (const void *)request;
    const struct copying *copying = find(invariants, question);

    if (question->volume_content_source)
        coverage_count("copy", copying->is_snapshot ? "of a snapshot" : "of a volume",
                       err ? err_kind_reason(err_kind(err)) : "OK");
    if (!err)
        check_made(invariants, question,
                   ((const Csi__V1__CreateVolumeResponse *)(const void *)response)->volume);
    else if (question->volume_content_source)
        check_refused(invariants, question, err);
}

/* ---- what is asked of Azure ---- */

static const char *zone_in(const json_t *body)
{
    const char *zone = json_string_value(json_array_get(json_object_get(body, "zones"), 0));

    return zone ? zone : "";
}

/* What the driver could see when it was asked, Azure need not refuse. */
static void check_request_of_copy(struct sim *sim, const struct volume *volume,
                                  const struct copying *copying, const json_t *body)
{
    struct source source = find_source(sim, copy_source_id(&volume->wish.source));
    json_int_t gib = json_integer_value(resource_get(body, "properties.diskSizeGB"));

    if (gib < copying->gib)
        verdict_violated(sim, COPY_OF_SOURCE, "disk %s is to have %lld GiB, its source has %lld",
                         volume->pv, (long long)gib, (long long)copying->gib);
    if (source.disk && source.disk->spec.zone[0] && zone_in(body)[0] &&
        strcmp(source.disk->spec.zone, zone_in(body)) != 0)
        verdict_violated(sim, COPY_OF_SOURCE, "disk %s is to be in zone %s, its source is in %s",
                         volume->pv, zone_in(body), source.disk->spec.zone);
    if (is_copied_itself(&source) && source.disk->copy.start_us < copying->since_us)
        verdict_violated(sim, COPY_OF_SOURCE,
                         "disk %s is to be a copy of %s, which is copied itself, and %.1f %% done",
                         volume->pv, source.disk->name,
                         copy_percent(&source.disk->copy, model_now_us(sim->azure)));
}

void check_creation(struct invariants *invariants, const struct arm_record *record)
{
    struct sim *sim = invariants->sim;
    const char *name = strrchr(record->call->path, '/') + 1;
    const struct volume *volume = volume_named(sim, name);
    const char *id = volume ? copy_source_id(&volume->wish.source) : NULL;
    CLEANUP(json_decrefp)
    json_t *body = json_loadb(record->call->body, record->call->body_length, 0, NULL);
    const char *said = resource_text(body, "properties.creationData.sourceResourceId", "");
    CLEANUP(freep) char *key = mem_printf("%s %s", name, id ? id : "");
    const struct copying *copying;

    HASH_FIND_STR(invariants->copyings, key, copying);
    if (!copying)
        return;
    if (strcasecmp(said, id ? id : "") != 0)
        verdict_violated(sim, COPY_OF_SOURCE,
                         "disk %s is to be a copy of \"%s\", and not of \"%s\"", name, said,
                         id ? id : "");
    else if (id)
        check_request_of_copy(sim, volume, copying, body);
}

/* ---- mounts ---- */

/* The disk that was answered, with the volume's own file system on it. */
void check_mounted_content(const struct invariants *invariants, const struct mount *mount)
{
    const struct volume *volume = mount->volume;
    const struct content *content = mount_content(mount);
    const char *source = copy_source_id(&volume->wish.source);
    CLEANUP(freep) char *key = mem_printf("%s %s", volume->pv, source ? source : "");
    const struct copying *copying;

    HASH_FIND_STR(invariants->copyings, key, copying);
    if (copying && strcmp(copying->made, mount->disk) != 0)
        verdict_violated(invariants->sim, RIGHT_DISK,
                         "volume %s was made as disk %s, mounted is %s", volume->pv, copying->made,
                         mount->disk);
    if (!volume->wish.block && strcmp(content->filesystem, volume->filesystem) != 0)
        verdict_violated(invariants->sim, RIGHT_DISK, "%s has file system %s mounted as volume %s",
                         mount->machine->name, content->filesystem, volume->pv);
}
