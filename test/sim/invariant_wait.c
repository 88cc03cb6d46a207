/* Invariants of how long things take while nothing is wrong. What the driver finds only at its look
 * at everything, every ten minutes, it has missed. */

#include <string.h>

#include "test/azsim/model/attachment.h"
#include "test/sim/invariant_check.h"

enum {
    LOOK_MS = 1000,
    CALM_MS = 8 * 60 * 1000, /* after trouble: pauses grow to five minutes, tokens come first */
    MOST_MS = 15 * 1000,
    TOKENS_MS = 60 * 1000, /* until Azure lets a VM be changed again, once others' changes of it,
                            * that were refused, have used up what it allows */
    MOST_LEAVING_MS = 60 * 1000 + TOKENS_MS, /* 30 s of it for a primary that takes its place */
    CATCH_UP_MS = 60 * 1000,                 /* after trouble: watches are there again */
    /* What was under way when its machine was lost, and a detach that does not end, come before a
     * detach by force. */
    MOST_WITHHELD_MS = 12 * 60 * 1000,
};

/* ---- what it would wait for ---- */

/* Somebody else is primary. */
static bool is_role_taken(const struct record *own)
{
    LIST_FOREACH(&own->volume->attachments, link) {
        const struct record *other = RECORD_OF(link);

        if (other != own && other->is_primary)
            return true;
    }
    return false;
}

/* Those that are on their way to it count twice, which is well. */
static bool has_room(const struct invariants *invariants, const struct vm *vm)
{
    size_t places = vm->data_disks.n;

    HASH_FOREACH(invariants->records.volumes, volume) {
        const struct record *record = record_on(volume, vm->spec.name);

        places += record && record->lun >= 0;
    }
    return places < vm->size->max_data_disks;
}

static bool is_on_its_way(const struct attachment *attachment)
{
    const struct data_disk *item =
        data_disks_find(&attachment->vm->data_disks, attachment->disk->key);

    return attachment->vm->operation && (!attachment->attached || !item || item->to_be_detached);
}

/* A disk is changed on one VM after the other. */
static bool is_changed_elsewhere(const struct sim *sim, const char *key, const struct vm *vm)
{
    const struct disk *disk = disk_find(sim->azure, key);

    if (!disk)
        return false;
    LIST_FOREACH(&disk->attachments, link) {
        if (ATTACHMENT_OF_DISK(link)->vm != vm && is_on_its_way(ATTACHMENT_OF_DISK(link)))
            return true;
    }
    return false;
}

static bool can_attach(const struct invariants *invariants, const struct record *record,
                       const struct volume *volume)
{
    const struct machine *machine = machine_find(invariants->sim->world, record->node);
    const struct vm *vm = machine ? machine_vm(machine) : NULL;

    return record_shares_held(record->volume) < volume_shares(volume) && vm &&
           vm->power == POWER_RUNNING && machine->registered && has_room(invariants, vm) &&
           !is_changed_elsewhere(invariants->sim, record->volume->disk, vm);
}

/* Azure has done what was asked of it. */
static bool is_there(const struct invariants *invariants, const struct record *record)
{
    const struct machine *machine = machine_find(invariants->sim->world, record->node);
    const struct vm *vm = machine ? machine_vm(machine) : NULL;

    if (!vm || vm->operation || vm->failure) /* of what has failed it is not told at once */
        return false;
    LIST_FOREACH(&vm->attachments, link) {
        const struct attachment *attachment = ATTACHMENT_OF_VM(link);

        if (strcmp(attachment->disk->key, record->volume->disk) == 0)
            return attachment->attached && attachment->lun == (unsigned)record->lun;
    }
    return false;
}

/* A replica that is to be detached. On a full VM it may wait for the primary that takes its place,
 * for a while. */
static bool can_leave(const struct invariants *invariants, const struct record *record)
{
    const struct machine *machine = machine_find(invariants->sim->world, record->node);
    const struct vm *vm = machine ? machine_vm(machine) : NULL;

    return record->deleting && !record->primary && vm && vm->power == POWER_RUNNING &&
           machine->registered && !vm->operation && vm_has_disk(vm, record->volume->disk) &&
           !is_changed_elsewhere(invariants->sim, record->volume->disk, vm);
}

/* What could go on at once; NULL if nothing could. */
static const char *due(const struct invariants *invariants, const struct record *record)
{
    bool attached = strcmp(record->state, "Attached") == 0;

    if (!record->primary || record->deleting || (attached && record->is_primary))
        return NULL;
    const struct volume *volume = volume_of_disk(invariants->sim, record->volume->disk);
    if (!volume || record->volume->deleting)
        return NULL;
    if (!volume->wish.block && is_role_taken(record))
        return NULL;
    if (attached)
        return "be primary of";
    if (record->lun >= 0)
        return is_there(invariants, record) ? "be said to have" : NULL;
    return can_attach(invariants, record, volume) ? "attach" : NULL;
}

/* ---- for how long ---- */

static uint64_t calm_since(const struct invariants *invariants)
{
    uint64_t since = invariants->trouble_at;

    if (invariants->led_since > since)
        since = invariants->led_since;
    return since + CALM_MS;
}

bool is_calm(const struct invariants *invariants)
{
    return invariants->troubles == 0 && loop_now(invariants->sim->loop) >= calm_since(invariants);
}

bool may_be_behind(const struct invariants *invariants, uint64_t then)
{
    return invariants->troubles > 0 ||
           (invariants->mended > 0 && then < invariants->mended + CATCH_UP_MS);
}

static void check_wait(const struct invariants *invariants, struct record *record, uint64_t now)
{
    uint64_t calm = calm_since(invariants);
    bool leaves = can_leave(invariants, record);
    const char *what = leaves ? "be rid of" : due(invariants, record);

    if (!what) {
        record->due_since = 0;
        return;
    }
    if (record->due_since == 0)
        record->due_since = now;
    uint64_t since = record->due_since > calm ? record->due_since : calm;
    /* While the VM was busy detaches were refused, and pauses have grown with that time. */
    uint64_t in_vain = leaves ? record->due_since - record->deleted : 0;
    if (leaves && now > since + MOST_LEAVING_MS + 2 * in_vain)
        verdict_violated(invariants->sim, LEAVES, "%s could %s %s since %.3f s", record->node, what,
                         record->volume->name, (double)record->due_since / 1000);
    else if (!leaves && now > since + MOST_MS)
        verdict_violated(invariants->sim, AT_ONCE, "%s could %s %s since %.3f s", record->node,
                         what, record->volume->name, (double)record->due_since / 1000);
}

/* ---- a machine that is lost with what it has ---- */

/* Nothing is wrong but that machines are lost with what they have. */
static bool is_all_of_lost_machines(const struct invariants *invariants)
{
    unsigned lost = 0;

    LIST_FOREACH(&invariants->sim->world->machines, link)
        lost += MACHINE_OF(link)->rule && MACHINE_OF(link)->struck;
    return invariants->troubles <= lost;
}

/* A disk that only this machine may have, and that Azure is to take from it by force. */
static bool is_withheld(const struct invariants *invariants, const struct record *record)
{
    const struct machine *machine = machine_find(invariants->sim->world, record->node);
    const struct volume *volume = volume_of_disk(invariants->sim, record->volume->disk);
    const struct vm *vm = machine ? machine_vm(machine) : NULL;

    return vm && machine->rule && machine->out_of_service && machine->registered && volume &&
           volume_shares(volume) == 1 && record->deleting && is_all_of_lost_machines(invariants) &&
           !is_published(invariants, record->volume->disk, record->node) &&
           vm_has_disk(vm, record->volume->disk);
}

static void check_withheld(const struct invariants *invariants, struct record *record, uint64_t now)
{
    if (!is_withheld(invariants, record)) {
        record->withheld_since = 0;
        return;
    }
    if (record->withheld_since < invariants->led_since || record->withheld_since == 0)
        record->withheld_since = now;
    if (now > record->withheld_since + MOST_WITHHELD_MS)
        verdict_violated(invariants->sim, LEAVES, "%s is off and has %s since %.3f s", record->node,
                         record->volume->name, (double)record->withheld_since / 1000);
}

void check_waits(struct invariants *invariants)
{
    uint64_t now = loop_now(invariants->sim->loop);

    if (now < invariants->waits_seen + LOOK_MS)
        return;
    invariants->waits_seen = now;
    HASH_FOREACH(invariants->records.volumes, volume) {
        LIST_FOREACH(&volume->attachments, link) {
            check_withheld(invariants, RECORD_OF(link), now);
            if (invariants->troubles > 0)
                RECORD_OF(link)->due_since = 0;
            else
                check_wait(invariants, RECORD_OF(link), now);
        }
    }
}
