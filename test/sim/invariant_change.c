/* Invariants of disks that become larger: where Azure allows it, as much as was asked for, and not
 * at the cost of whoever uses the volume. */

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

static struct disk *find_disk(const struct sim *sim, const char *id)
{
    CLEANUP(freep) char *key = resource_key(id);

    return disk_find(sim->azure, key);
}

/* While a VM has it. */
static bool grows_attached(const struct disk *disk, int64_t to_gib)
{
    bool crosses = disk->spec.size_gib < BORDER_GIB && to_gib >= BORDER_GIB;

    return disk->spec.max_shares == 1 && !crosses;
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
    const char *slash = strrchr(volume_id, '/'), *name = slash ? slash + 1 : volume_id;
    struct growing *growing;

    HASH_FIND_STR(invariants->growings, name, growing);
    if (growing)
        return growing;
    growing = mem_alloc(sizeof *growing);
    growing->name = mem_strdup(name);
    HASH_ADD_KEYPTR(hh, invariants->growings, growing->name, strlen(growing->name), growing);
    return growing;
}

void growings_fini(struct invariants *invariants)
{
    HASH_FOREACH(invariants->growings, growing) {
        HASH_DEL(invariants->growings, growing);
        free(growing->name);
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
    const struct disk *disk = find_disk(invariants->sim, request->volume_id);
    int64_t bytes = disk ? disk->spec.size_gib * GIB : 0;

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

/* ---- what is asked of Azure ---- */

static int64_t size_in(const char *text, size_t length)
{
    CLEANUP(json_decrefp) json_t *body = json_loadb(text, length, 0, NULL);

    return json_integer_value(json_object_get(json_object_get(body, "properties"), "diskSizeGB"));
}

/* By the record that the driver itself has of where the disk is. */
void check_grows(struct invariants *invariants, const char *disk_id, const char *body,
                 size_t length)
{
    struct sim *sim = invariants->sim;
    const struct disk *disk = find_disk(sim, disk_id);
    const struct volume_record *volume = disk ? record_volume(sim, disk->name) : NULL;

    if (!volume || may_be_behind(invariants, loop_now(sim->loop)))
        return;
    bool attached_too = grows_attached(disk, size_in(body, length));
    coverage_count("growth",
                   disk->spec.max_shares > 1 ? "shared"
                   : attached_too            ? "alone"
                                             : "crosses",
                   disk_owner(disk) ? "attached" : "unattached");
    LIST_FOREACH(&disk->attachments, link) {
        const char *vm = ATTACHMENT_OF_DISK(link)->vm->spec.name;
        const struct record *record = record_find(sim, disk->name, vm);

        if (!attached_too && record && record->lun >= 0)
            verdict_violated(sim, GROWS_ALONE, "disk %s is to grow, and %s has it", disk->name, vm);
    }
}

void check_growth_request(struct invariants *invariants, const struct arm_record *record)
{
    struct sim *sim = invariants->sim;
    const struct growing *growing = get(invariants, record->resource);
    int64_t bytes = size_in(record->call->body, record->call->body_length) * GIB;
    uint64_t came = came_at(sim, record);

    if (!volume_of_disk(sim, record->resource) && !record_volume(sim, record->resource))
        verdict_violated(sim, NOT_OURS, "disk %s of somebody else is changed", record->resource);
    else if (bytes > growing->most_bytes)
        verdict_violated(sim, GROWS_AS_ASKED, "disk %s is to have %lld bytes, and nobody asked",
                         record->resource, (long long)bytes);
    else if (bytes > growing->asked_bytes && came > growing->asked_at + UNHEARD_MS &&
             is_calm(invariants))
        verdict_violated(sim, GROWS_AS_ASKED,
                         "disk %s is to have %lld bytes, and since %.3f s only %lld are asked for",
                         record->resource, (long long)bytes, (double)growing->asked_at / 1000,
                         (long long)growing->asked_bytes);
    HASH_FOREACH(sim->azure->disks, disk) {
        if (strcmp(disk->name, record->resource) == 0 && bytes < disk->spec.size_gib * GIB &&
            is_calm(invariants))
            verdict_violated(sim, GROWS_AS_ASKED, "disk %s is to shrink to %lld bytes",
                             record->resource, (long long)bytes);
    }
}

/* ---- what is on record ---- */

/* A shared disk cannot grow between its attachment and the record of that. */
void check_attached_size(const struct invariants *invariants, const struct record *record)
{
    const struct sim *sim = invariants->sim;
    const struct volume *volume = volume_of_disk(sim, record->volume->name);
    const struct disk *disk = volume && volume->handle ? find_disk(sim, volume->handle) : NULL;

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

bool makes_way_for_growth(const struct invariants *invariants, const struct volume_record *record)
{
    const struct sim *sim = invariants->sim;
    const struct volume *volume = volume_of_disk(sim, record->name);

    return volume && strcmp(record->state, "Updating") == 0 &&
           record->wanted_bytes > record->bytes &&
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

void check_growth_at_end(struct sim *sim, const struct volume *volume)
{
    const struct volume_record *record =
        volume->az_name ? record_volume(sim, volume->az_name) : NULL;
    const struct disk *disk = volume->handle ? find_disk(sim, volume->handle) : NULL;

    if (volume->phase != VOLUME_BOUND || !record || !record->exists || !disk)
        return;
    bool waits = !grows_attached(disk, volume->wanted_gib) && volume_is_used(volume);
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
