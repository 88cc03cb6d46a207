/* Invariants of what is: the records in the API server, and what nodes have mounted. */

#include <string.h>

#include "test/azsim/model/attachment.h"
#include "test/sim/invariant_check.h"
#include "test/sim/node_fence.h"
#include "test/sim/running_job.h"

enum {
    COLLECTION_MS = 5 * 60 * 1000, /* by default, --replica-gc-delay */
    UNHEARD_MS = 1000,             /* by a watch that nothing is wrong with */
    ON_ITS_WAY_MS = 25,            /* a deletion that was decided while it was published */
};

struct volume *volume_of_disk(const struct sim *sim, const char *disk)
{
    LIST_FOREACH(&sim->world->volumes, link) {
        struct volume *volume = VOLUME_OF(link);

        if (volume->disk && strcmp(volume->disk, disk) == 0)
            return volume;
    }
    return NULL;
}

/* ---- records ---- */

/* A controller that has not heard of the other one writes that its own is to be primary. Who mounts
 * goes by the record; who does not come to be on it gives the role back (invariant_call.c). */
static bool may_be_unheard(const struct invariants *invariants, const struct record *a,
                           const struct record *b)
{
    uint64_t earlier = a->promoted < b->promoted ? a->promoted : b->promoted;
    uint64_t later = a->promoted < b->promoted ? b->promoted : a->promoted;

    return later - earlier < UNHEARD_MS || may_be_behind(invariants, later);
}

static void check_one_primary(const struct invariants *invariants,
                              const struct volume_record *records)
{
    struct sim *sim = invariants->sim;
    const struct volume *volume = volume_of_disk(sim, records->disk);
    const struct record *first = NULL, *first_true = NULL;

    if (volume && volume->wish.block)
        return;
    LIST_FOREACH(&records->attachments, link) {
        const struct record *record = RECORD_OF(link);

        if (record->primary && !record->deleting) {
            if (first && !may_be_unheard(invariants, first, record))
                verdict_violated(sim, ONE_PRIMARY, "volume %s is to be primary on %s and on %s",
                                 records->name, first->node, record->node);
            first = record;
        }
        if (record->is_primary) {
            if (first_true)
                verdict_violated(sim, ONE_PRIMARY, "volume %s is primary on %s and on %s",
                                 records->name, first_true->node, record->node);
            first_true = record;
        }
    }
}

static bool holds_lun(const struct record *record, const char *node, int lun)
{
    return record->lun == lun && strcmp(record->node, node) == 0;
}

static void check_luns(struct sim *sim, const struct record *record)
{
    const struct records *records = invariants_records(sim->invariants);

    if (record->lun < 0)
        return;
    HASH_FOREACH(records->volumes, volume) {
        LIST_FOREACH(&volume->attachments, link) {
            const struct record *other = RECORD_OF(link);

            if (other != record && holds_lun(other, record->node, record->lun))
                verdict_violated(sim, LUN_OF_ONE_DISK, "LUN %d of %s is that of %s (%s) and of %s",
                                 record->lun, record->node, record->volume->name, record->state,
                                 other->volume->name);
        }
    }
}

/* Those that leave count until they have left. A new leader, or one whose watches lag, may not know
 * of all. */
static void check_shares(struct sim *sim, const struct volume_record *records)
{
    const struct volume *volume = volume_of_disk(sim, records->disk);
    unsigned held = record_shares_held(records);

    if (volume && held > volume->wish.max_shares && is_calm(sim->invariants))
        verdict_violated(sim, SHARES, "volume %s has %u attachments, and is made for %u",
                         records->name, held, volume->wish.max_shares);
}

/* Disks are attached to it, and more are to be, as many as it can take. */
static bool is_full(const struct sim *sim, const struct vm *vm, const char *node)
{
    const struct records *records = invariants_records(sim->invariants);
    size_t n = vm->data_disks.n;

    HASH_FOREACH(records->volumes, volume) {
        n += record_on(volume, node) && !vm_has_disk(vm, volume->disk);
    }
    return n >= vm->size->max_data_disks;
}

/* Those of a volume whose claim is gone go at once. */
static bool has_claim(const struct sim *sim, const char *disk)
{
    const struct volume *volume = volume_of_disk(sim, disk);

    return !volume || volume->phase == VOLUME_PENDING || volume->phase == VOLUME_BOUND;
}

/* A replica of a volume that nobody has published; on a VM with room for others nothing but its
 * collection can be why it is deleted. */
static void check_kept(const struct invariants *invariants, const struct record *record)
{
    struct sim *sim = invariants->sim;
    const struct volume_record *volume = record->volume;
    const struct machine *machine = machine_find(sim->world, record->node);
    const struct vm *vm = machine && machine->registered ? machine_vm(machine) : NULL;
    uint64_t now = loop_now(sim->loop);

    if (record->deleted != now || record->primary || record->detach_requested ||
        strcmp(record->state, "Attached") != 0 || !volume->exists || volume->deleting || !vm ||
        is_full(sim, vm, record->node) || !has_claim(sim, volume->disk) ||
        makes_way_for_change(invariants, volume))
        return;
    if (now > volume->published + ON_ITS_WAY_MS && now < volume->published + COLLECTION_MS &&
        is_calm(invariants))
        verdict_violated(sim, KEPT_FOR_A_WHILE,
                         "the replica of volume %s on %s goes %.3f s after its last primary",
                         volume->name, record->node, (double)(now - volume->published) / 1000);
}

void check_record(struct invariants *invariants, const struct volume_record *volume)
{
    if (!volume)
        return;
    check_one_primary(invariants, volume);
    check_shares(invariants->sim, volume);
    LIST_FOREACH(&volume->attachments, link) {
        check_luns(invariants->sim, RECORD_OF(link));
        check_kept(invariants, RECORD_OF(link));
        check_attached_size(invariants, RECORD_OF(link));
    }
}

/* ---- which disk ---- */

/* What is left of the attachments of an AzVolume that is gone keeps its name for its disk. */
void check_disk(const struct invariants *invariants, const struct volume_record *volume)
{
    struct sim *sim = invariants->sim;

    if (!volume || !volume->exists)
        return;
    LIST_FOREACH(&volume->attachments, link) {
        if (strcmp(RECORD_OF(link)->disk, volume->disk) != 0)
            verdict_violated(sim, RIGHT_DISK, "AzVolume %s is of %s, its attachment to %s of %s",
                             volume->name, volume->disk, RECORD_OF(link)->node,
                             RECORD_OF(link)->disk);
    }
    HASH_FOREACH(invariants->records.volumes, other) {
        if (other != volume && other->exists && strcmp(other->disk, volume->disk) == 0)
            verdict_violated(sim, ONE_RECORD, "%s has AzVolumes %s and %s", volume->disk,
                             volume->name, other->name);
    }
}

/* ---- mounts ---- */

static void check_mount(struct invariants *invariants, const struct mount *mount)
{
    struct sim *sim = invariants->sim;
    const char *disk = mount->volume->disk, *node = mount->machine->name;
    const struct record *record = disk ? record_find(sim, disk, node) : NULL;
    const struct attachment *attachment = mount_attachment(mount);

    if (attachment && disk && strcmp(attachment->disk->key, disk) != 0)
        verdict_violated(sim, RIGHT_DISK, "%s has disk %s mounted as volume %s", node,
                         attachment->disk->key, disk);
    check_mounted_content(invariants, mount);
    if (!disk || !is_published(invariants, disk, node) ||
        publishing_find(invariants, disk, node)->deleted_by_hand)
        return;
    if (!record || !record->primary || record->deleting)
        verdict_violated(sim, REPLICA_NOT_MOUNTED,
                         "volume %s is published and mounted on %s, and its attachment %s", disk,
                         node,
                         !record            ? "is gone"
                         : record->deleting ? "is going"
                                            : "is a replica");
}

/* It was mounted elsewhere since, and the fence that was there should keep this one out. */
static bool is_behind(const struct mount *mount)
{
    const struct volume *volume = mount->volume;

    return mount->stage != volume->stages && volume_is_fenced(volume) && !volume->delete_wanted &&
           !disk_keys_went_with_holder(&mount->machine->world->disk_keys,
                                       mount_attachment(mount)->disk);
}

static void check_writers(struct sim *sim, const struct volume *volume)
{
    const struct machine *first = NULL;

    if (volume->wish.block)
        return;
    LIST_FOREACH(&sim->world->machines, link) {
        const struct machine *machine = MACHINE_OF(link);
        const struct mount *mount = machine_mount(machine, volume);

        if (!mount || !mount->staged || !mount_can_write(mount))
            continue;
        if (is_behind(mount))
            verdict_violated(sim, NOT_BEHIND, "%s can write to volume %s, mounted elsewhere since",
                             machine->name, volume->disk);
        if (first)
            verdict_violated(sim, ONE_WRITER, "%s and %s both have volume %s mounted and attached",
                             first->name, machine->name, volume->disk);
        first = machine;
    }
}

/* Of one machine; a program that the kubelet does not know of writes too. */
static bool has_writer(const struct machine *machine, const struct volume *volume)
{
    const struct mount *mount = machine_mount(machine, volume);
    const struct running_job *job = running_job_find(machine, volume);

    return (mount && mount->staged && mount_can_write(mount)) ||
           (job && running_job_can_write(job));
}

static void check_programs(struct sim *sim, const struct machine *machine)
{
    LIST_FOREACH(&machine->jobs, link) {
        const struct running_job *job = RUNNING_JOB_OF(link);

        if (!running_job_can_write(job))
            continue;
        LIST_FOREACH(&sim->world->machines, other) {
            if (MACHINE_OF(other) != machine && has_writer(MACHINE_OF(other), job->volume))
                verdict_violated(sim, PROGRAM_IS_SEEN,
                                 "a program of %s writes to volume %s, and so does %s",
                                 machine->name, job->volume->disk, MACHINE_OF(other)->name);
        }
    }
}

uint64_t mounts_now(const struct sim *sim)
{
    uint64_t sum = sim->world->disk_keys.changes;

    LIST_FOREACH(&sim->world->machines, link) {
        LIST_FOREACH(&MACHINE_OF(link)->mounts, mount) {
            sum = sum * 31 + MOUNT_OF(mount)->staged;
        }
        LIST_FOREACH(&MACHINE_OF(link)->jobs, job) {
            sum = sum * 31 + 2;
        }
        sum = sum * 31 + MACHINE_OF(link)->frozen;
    }
    return sum;
}

void check_mounts(struct invariants *invariants)
{
    struct sim *sim = invariants->sim;

    LIST_FOREACH(&sim->world->machines, link) {
        LIST_FOREACH(&MACHINE_OF(link)->mounts, mount) {
            if (MOUNT_OF(mount)->staged)
                check_mount(invariants, MOUNT_OF(mount));
        }
        check_programs(sim, MACHINE_OF(link));
    }
    LIST_FOREACH(&sim->world->volumes, link) {
        if (VOLUME_OF(link)->phase == VOLUME_BOUND)
            check_writers(sim, VOLUME_OF(link));
    }
}
