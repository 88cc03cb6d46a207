/* Invariants of disks that become larger or of another kind: where Azure allows it, as was asked
 * for, and not at the cost of whoever uses the volume. */

#include <stdlib.h>
#include <string.h>

#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/disk_sku.h"
#include "test/azsim/model/attachment.h"
#include "test/azsim/model/disk.h"
#include "test/azsim/model/resource.h"
#include "test/sim/coverage.h"
#include "test/sim/invariant_check.h"

typedef Csi__V1__ControllerExpandVolumeRequest expand_request;

enum {
    BORDER_GIB = 4096, /* as test/azsim/model/disk.c has it */
    UNHEARD_MS = 1000, /* by a watch that nothing is wrong with */
    AT_WORK_MS = 60 * 1000,
};

/* By who looks once a minute, and asks again within five. */
#define SEEN_US (10LL * 60 * 1000 * 1000)

static struct disk *find_disk(const struct sim *sim, const char *id)
{
    CLEANUP(freep) char *key = resource_key(id);

    return disk_find(sim->azure, key);
}

/* While a VM has it. */
static bool grows_attached(const struct disk *disk, int64_t to_gib)
{
    bool crosses = disk->spec.size_gib < BORDER_GIB && to_gib >= BORDER_GIB &&
                   disk->spec.sku->family != DISK_PREMIUM_V2;

    return disk->spec.max_shares == 1 && !crosses;
}

static bool converts_attached(const struct disk *disk, const char *sku)
{
    return strcmp(sku, "PremiumV2_LRS") == 0 && disk->spec.max_shares == 1 && !disk_is_cached(disk);
}

/* A pod that was there by then. */
static bool is_used_since(const struct sim *sim, const struct volume *volume, uint64_t then)
{
    LIST_FOREACH(&sim->world->pods, link) {
        if (pod_uses(POD_OF(link), volume) && POD_OF(link)->created <= then)
            return true;
    }
    return false;
}

/* ---- what was asked for ---- */

static struct growing *get(struct invariants *invariants, const char *volume_id)
{
    CLEANUP(freep) char *disk = resource_key(volume_id);
    struct growing *growing;

    HASH_FIND_STR(invariants->growings, disk, growing);
    if (growing)
        return growing;
    growing = mem_alloc(sizeof *growing);
    growing->disk = TAKE_PTR(disk);
    HASH_ADD_KEYPTR(hh, invariants->growings, growing->disk, strlen(growing->disk), growing);
    return growing;
}

void growings_fini(struct invariants *invariants)
{
    HASH_FOREACH(invariants->growings, growing) {
        HASH_DEL(invariants->growings, growing);
        free(growing->disk);
        free(growing);
    }
}

void note_growth_question(struct invariants *invariants, const ProtobufCMessage *request)
{
    const expand_request *question = (const void *)request;
    struct growing *growing = get(invariants, question->volume_id);
    int64_t bytes = question->capacity_range->required_bytes;

    growing->calls++;
    if (bytes > growing->most_bytes)
        growing->most_bytes = bytes;
    if (bytes > growing->asked_bytes)
        growing->asked_bytes = bytes;
}

/* ---- what was answered ---- */

static void check_done(struct invariants *invariants, const expand_request *request,
                       const Csi__V1__ControllerExpandVolumeResponse *response)
{
    const struct sim *sim = invariants->sim;
    const struct disk *disk = find_disk(sim, request->volume_id);
    const struct volume *volume = volume_find_by_handle(sim->world, request->volume_id);
    int64_t bytes = disk ? disk->spec.size_gib * GIB : 0;

    /* Whoever does without the volume may have deleted its disk since the call has seen it grow. */
    if (!disk && (!volume || volume->delete_wanted))
        return;
    if (response->capacity_bytes < request->capacity_range->required_bytes ||
        response->capacity_bytes > bytes)
        verdict_violated(invariants->sim, CALL_WAS_DONE,
                         "volume %s was to have %lld bytes, is said to have %lld, and has %lld",
                         request->volume_id, (long long)request->capacity_range->required_bytes,
                         (long long)response->capacity_bytes, (long long)bytes);
}

/* Both say that the size is on record. */
static bool is_on_record(const struct err *err)
{
    return !err || err_kind(err) == ERR_PRECONDITION;
}

void check_growth_answer(struct invariants *invariants, const ProtobufCMessage *request,
                         const ProtobufCMessage *response, const struct err *err)
{
    const expand_request *question = (const void *)request;
    struct growing *growing = get(invariants, question->volume_id);
    uint64_t now = loop_now(invariants->sim->loop);

    growing->calls--;
    coverage_count("growth", "answered", err ? err_kind_reason(err_kind(err)) : "OK");
    if (!is_on_record(err))
        growing->unclear_until = now + AT_WORK_MS;
    else if (growing->calls == 0 && now >= growing->unclear_until) {
        growing->asked_bytes = question->capacity_range->required_bytes;
        growing->asked_at = now;
    }
    if (!err)
        check_done(invariants, question, (const void *)response);
}

void check_modify_answer(struct invariants *invariants, const ProtobufCMessage *request,
                         const struct err *err)
{
    const Csi__V1__ControllerModifyVolumeRequest *question = (const void *)request;
    const struct disk *disk = find_disk(invariants->sim, question->volume_id);
    const char *sku = question->mutable_parameters[0]->value;

    coverage_count("modification", "answered", err ? err_kind_reason(err_kind(err)) : "OK");
    if (!err && (!disk || strcmp(disk->spec.sku->name, sku) != 0))
        verdict_violated(invariants->sim, CALL_WAS_DONE,
                         "volume %s was to be on a %s disk, is said to be, and is on a %s one",
                         question->volume_id, sku, disk ? disk->spec.sku->name : "deleted");
}

/* ---- what is asked of Azure ---- */

/* 0: none */
static int64_t size_in(const json_t *body)
{
    return json_integer_value(json_object_get(json_object_get(body, "properties"), "diskSizeGB"));
}

static const char *sku_in(const json_t *body)
{
    return json_string_value(json_object_get(json_object_get(body, "sku"), "name"));
}

/* By the record that the driver itself has of where the disk is. */
void check_changes(struct invariants *invariants, const char *disk_id, const char *text,
                   size_t length)
{
    CLEANUP(json_decrefp) json_t *body = json_loadb(text, length, 0, NULL);
    struct sim *sim = invariants->sim;
    const struct disk *disk = find_disk(sim, disk_id);
    const struct volume_record *volume = disk ? record_volume(sim, disk->key) : NULL;

    if (!volume || may_be_behind(invariants, loop_now(sim->loop)))
        return;
    const char *sku = sku_in(body);
    bool attached_too = sku ? converts_attached(disk, sku) : grows_attached(disk, size_in(body));
    coverage_count(sku ? "modification" : "growth",
                   disk->spec.max_shares > 1 ? "shared"
                   : attached_too            ? "alone"
                                             : "alone and unattached",
                   disk_owner(disk) ? "attached" : "unattached");
    LIST_FOREACH(&disk->attachments, link) {
        const char *vm = ATTACHMENT_OF_DISK(link)->vm->spec.name;
        const struct record *record = record_on(volume, vm);

        if (!attached_too && record && record->lun >= 0)
            verdict_violated(sim, CHANGES_ALONE, "disk %s is to %s, and %s has it", disk->name,
                             sku ? "be modified" : "grow", vm);
    }
}

static void check_size_asked(struct invariants *invariants, const struct arm_record *record,
                             int64_t bytes)
{
    struct sim *sim = invariants->sim;
    const struct growing *growing = get(invariants, record->call->path);
    const struct disk *disk = find_disk(sim, record->call->path);
    uint64_t came = came_at(sim, record);

    if (bytes > growing->most_bytes)
        verdict_violated(sim, GROWS_AS_ASKED, "disk %s is to have %lld bytes, and nobody asked",
                         record->resource, (long long)bytes);
    else if (bytes > growing->asked_bytes && came > growing->asked_at + UNHEARD_MS &&
             is_calm(invariants))
        verdict_violated(sim, GROWS_AS_ASKED,
                         "disk %s is to have %lld bytes, and since %.3f s only %lld are asked for",
                         record->resource, (long long)bytes, (double)growing->asked_at / 1000,
                         (long long)growing->asked_bytes);
    if (disk && bytes < disk->spec.size_gib * GIB && is_calm(invariants))
        verdict_violated(sim, GROWS_AS_ASKED, "disk %s is to shrink to %lld bytes",
                         record->resource, (long long)bytes);
}

static void check_kind_asked(struct sim *sim, const char *disk, const char *sku)
{
    const struct volume *volume = volume_of_disk(sim, disk);

    if (volume && !(volume->asked_skus & sku_bit(sku)))
        verdict_violated(sim, MODIFIED_AS_ASKED, "disk %s is to be a %s disk, and nobody asked",
                         disk, sku);
}

void check_change_request(struct invariants *invariants, const struct arm_record *record)
{
    struct sim *sim = invariants->sim;
    CLEANUP(json_decrefp)
    json_t *body = json_loadb(record->call->body, record->call->body_length, 0, NULL);
    CLEANUP(freep) char *disk = resource_key(record->call->path);
    const char *sku = sku_in(body);

    if (!volume_of_disk(sim, disk) && !record_volume(sim, disk))
        verdict_violated(sim, NOT_OURS, "disk %s of somebody else is changed", disk);
    else if (sku)
        check_kind_asked(sim, disk, sku);
    if (size_in(body) > 0)
        check_size_asked(invariants, record, size_in(body) * GIB);
}

/* ---- what is on record ---- */

/* A shared disk cannot grow between its attachment and the record of that. */
void check_attached_size(const struct invariants *invariants, const struct record *record)
{
    const struct sim *sim = invariants->sim;
    const struct volume *volume = volume_of_disk(sim, record->volume->disk);
    const struct disk *disk = volume ? disk_find(sim->azure, volume->disk) : NULL;

    if (record->since != loop_now(sim->loop) || strcmp(record->state, "Attached") != 0 || !disk ||
        disk->spec.max_shares == 1 || volume->by_hand_gib == disk->spec.size_gib ||
        !is_calm(invariants))
        return;
    if (record->bytes != disk->spec.size_gib * GIB)
        verdict_violated(invariants->sim, SAYS_SIZE, "disk %s has %lld bytes on %s, and not %lld",
                         disk->name, (long long)disk->spec.size_gib * GIB, record->node,
                         (long long)record->bytes);
}

/* ---- who waits for whom ---- */

bool makes_way_for_change(const struct invariants *invariants, const struct volume_record *record)
{
    const struct sim *sim = invariants->sim;
    const struct volume *volume = volume_of_disk(sim, record->disk);

    bool grows = strcmp(record->state, "Updating") == 0 && record->wanted_bytes > record->bytes;
    return volume && (grows || record->modifying) &&
           !is_used_since(sim, volume, loop_now(sim->loop) - UNHEARD_MS);
}

/* ---- at the end ---- */

/* Also of a disk that somebody has made larger by hand: the audit finds it. */
static void check_sizes(struct sim *sim, const struct volume_record *record, int64_t disk_bytes)
{
    if (record->bytes != disk_bytes)
        verdict_violated(sim, RECORDS_TRUE, "volume %s has %lld bytes by its record, and %lld",
                         record->name, (long long)record->bytes, (long long)disk_bytes);
    LIST_FOREACH(&record->attachments, link) {
        if (RECORD_OF(link)->bytes != record->bytes)
            verdict_violated(sim, RECORDS_TRUE,
                             "volume %s has %lld bytes by its record, and on %s %lld", record->name,
                             (long long)record->bytes, RECORD_OF(link)->node,
                             (long long)RECORD_OF(link)->bytes);
    }
}

/* Nothing makes it larger before its data is there. */
static bool is_converting(const struct sim *sim, const struct disk *disk)
{
    return !copy_is_done(&disk->copy, model_now_us(sim->azure) - SEEN_US);
}

/* A kind that was asked for and then Azure's quota of two a day was used up, or that needs a disk
 * that no VM has, while a pod has it. */
static void check_kind_at_end(struct sim *sim, const struct volume *volume,
                              const struct volume_record *record, const struct disk *disk)
{
    bool waits = volume->wanted_sku && volume_is_used(volume) &&
                 !converts_attached(disk, volume->wanted_sku);
    bool exhausted = disk->sku_times[COUNT_OF(disk->sku_times) - 1] != 0;
    bool converted =
        disk->spec.sku->family == DISK_PREMIUM_V2 && volume->wanted_sku &&
        strcmp(volume->wanted_sku, "PremiumV2_LRS") != 0; /* before its owner changed his mind */

    if (volume->wanted_sku == volume->given_sku || is_converting(sim, disk))
        return;
    if (waits || exhausted || converted)
        coverage_count("modification",
                       waits       ? "waits"
                       : exhausted ? "exhausted"
                                   : "converted",
                       "at the end");
    else
        verdict_violated(sim, WISHES, "volume %s is on a %s disk, its claim wants %s: %s",
                         record->name, disk->spec.sku->name, volume->wanted_sku,
                         volume->modify_error ? volume->modify_error : "no error yet");
}

void check_changes_at_end(struct sim *sim, const struct volume *volume)
{
    const struct volume_record *record = volume->disk ? record_volume(sim, volume->disk) : NULL;
    const struct disk *disk = volume->disk ? disk_find(sim->azure, volume->disk) : NULL;

    if (volume->phase != VOLUME_BOUND || !record || !record->exists || !disk)
        return;
    bool waits = (!grows_attached(disk, volume->wanted_gib) && volume_is_used(volume)) ||
                 is_converting(sim, disk);
    check_kind_at_end(sim, volume, record, disk);
    check_sizes(sim, record, disk->spec.size_gib * GIB);
    if (volume->wanted_gib > volume->gib && !waits)
        verdict_violated(sim, WISHES, "volume %s has %lld GiB, its claim wants %lld: %s",
                         record->name, (long long)volume->gib, (long long)volume->wanted_gib,
                         volume->resize_error ? volume->resize_error : "no error yet");
    if (waits && volume->wanted_gib > volume->gib)
        coverage_count("growth", "waits", "at the end");
    else if (strncmp(record->state, "Updat", 5) == 0 && strcmp(record->state, "Updated") != 0)
        verdict_violated(sim, WISHES, "AzVolume %s is still %s", record->name, record->state);
}
