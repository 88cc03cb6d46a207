#include "test/sim/azure_hand.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/attachment.h"
#include "test/azsim/model/disk.h"
#include "test/azsim/model/resource.h"
#include "test/sim/coverage.h"
#include "test/sim/disk_keys.h"
#include "test/sim/invariant_check.h"
#include "test/sim/machine.h"
#include "test/sim/mount.h"
#include "test/sim/node_fence.h"
#include "test/sim/record.h"
#include "test/sim/sim.h"

enum { HAND_GIB = 40 };
/* Of a person who was refused, and after how many refusals he does not wait for what is under way.
 */
enum { PATIENCE_MS = 10 * 1000, INSISTENT = 60 };
enum { SHARES_MS = 10 * 60 * 1000, LOOK_MS = 200 };

/* Azure refuses it while the VM is changing: then nothing happens. */
static bool change(struct vm *vm, json_t *body)
{
    struct operation *operation;
    struct refusal *refusal = vm_attach_detach(vm, body, &operation);
    bool accepted = !refusal;

    json_decref(body);
    refusal_free(refusal);
    model_commit(vm->model);
    return accepted;
}

static bool detach(struct sim *sim, struct vm *vm, const char *disk_id)
{
    sim_note(sim, "by hand: disk %s is detached from %s", strrchr(disk_id, '/') + 1, vm->spec.name);
    return change(vm, json_pack("{s:[{s:s}]}", "dataDisksToDetach", "diskId", disk_id));
}

/* The first that fits, from a VM that is drawn on. */
static struct vm *first_vm(struct sim *sim, const struct incident *incident)
{
    struct random random;
    unsigned n = HASH_COUNT(sim->azure->vms);
    struct vm *vm = sim->azure->vms;

    sim_choices(incident, &random);
    for (uint64_t skip = n ? random_below(&random, n) : 0; skip > 0; skip--)
        vm = vm->hh.next;
    return vm;
}

static struct vm *next_vm(struct sim *sim, const struct vm *vm)
{
    return vm->hh.next ? vm->hh.next : sim->azure->vms;
}

void hand_detaches_replica(struct sim *sim, const struct incident *incident)
{
    struct vm *first = first_vm(sim, incident), *vm = first;

    if (!first)
        return;
    do {
        LIST_FOREACH(&vm->attachments, link) {
            const struct attachment *attachment = ATTACHMENT_OF_VM(link);
            const struct record *record = record_find(sim, attachment->disk->key, vm->spec.name);

            if (!attachment->attached || !record || record->primary || record->deleting ||
                !detach(sim, vm, attachment->disk->id))
                continue;
            disk_keys_pulled(&sim->world->disk_keys, attachment);
            return;
        }
        vm = next_vm(sim, vm);
    } while (vm != first);
}

static bool has_share(const struct disk *disk)
{
    int64_t taken = 0;

    LIST_FOREACH(&disk->attachments, link) {
        taken++;
    }
    return taken > 0 && taken < disk->spec.max_shares;
}

/* A node that was cut off when its pod went on elsewhere has the file system open still. Whoever
 * attaches the disk to it again destroys it, and no driver can help that. */
static bool is_mounted(const struct sim *sim, const struct vm *vm, const struct disk *disk)
{
    const struct machine *machine = machine_find(sim->world, vm->spec.name);
    const struct volume *volume = volume_of_disk(sim, disk->key);

    return machine && volume && machine_mount(machine, volume);
}

static bool attach(struct sim *sim, struct vm *vm, const struct disk *disk)
{
    if (!has_share(disk) || attachment_find(vm, disk) ||
        record_find(sim, disk->key, vm->spec.name) || is_mounted(sim, vm, disk))
        return false;
    sim_note(sim, "by hand: disk %s is attached to %s", disk->name, vm->spec.name);
    return change(vm, json_pack("{s:[{s:s}]}", "dataDisksToAttach", "diskId", disk->id));
}

void hand_attaches_disk(struct sim *sim, const struct incident *incident)
{
    struct vm *first = first_vm(sim, incident), *vm = first;

    if (!first)
        return;
    do {
        HASH_FOREACH(sim->azure->disks, disk) {
            const struct volume_record *volume = record_volume(sim, disk->key);

            if (volume && !volume->deleting && attach(sim, vm, disk))
                return;
        }
        vm = next_vm(sim, vm);
    } while (vm != first);
}

/* The id of a disk in the VM's model that people have attached, or wanted to: it may be gone since.
 * NULL if there is none. */
static const char *find_foreign(struct sim *sim, const struct vm *vm)
{
    for (size_t i = 0; i < vm->data_disks.n; i++) {
        const json_t *entry = vm->data_disks.items[i].entry;
        const char *disk = vm->data_disks.items[i].key;

        if ((record_volume(sim, disk) || volume_of_disk(sim, disk)) &&
            !record_find(sim, disk, vm->spec.name))
            return resource_text(entry, "managedDisk.id", NULL);
    }
    return NULL;
}

/* What does not end by itself ends with another update of the VM. */
static void end_operation(struct sim *sim, struct vm *vm)
{
    CLEANUP(json_decrefp) json_t *nothing = json_object();
    struct operation *operation;

    sim_note(sim, "by hand: %s is updated", vm->spec.name);
    refusal_free(vm_patch(vm, nothing, &operation));
    model_commit(vm->model);
}

/* One of each VM, for then the VM is changing; whether nothing is left. A detach may be refused, or
 * fail. */
static bool detach_all(struct sim *sim, bool insists)
{
    bool none_left = true;

    HASH_FOREACH(sim->azure->vms, vm) {
        const char *disk_id = find_foreign(sim, vm);

        if (disk_id && !detach(sim, vm, disk_id) && insists)
            end_operation(sim, vm);
        none_left &= !disk_id;
    }
    return none_left;
}

static void detach_until_done(struct task *self, void *arg)
{
    struct err *err = NULL;

    for (unsigned n = 1; !err && !detach_all(arg, n % INSISTENT == 0); n++)
        err = task_sleep(self, PATIENCE_MS);
    err_free(err);
}

void hand_detaches_disk(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    group_spawn(&sim->tasks, "by hand", detach_until_done, sim);
}

void hand_grows_disk(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct volume *found = NULL;
    unsigned n = 0;

    sim_choices(incident, &random);
    LIST_FOREACH(&sim->world->volumes, link) {
        if (VOLUME_OF(link)->phase == VOLUME_BOUND && random_below(&random, ++n) == 0)
            found = VOLUME_OF(link);
    }
    struct disk *disk = found ? disk_find(sim->azure, found->disk) : NULL;
    if (!disk)
        return;
    int64_t gib = disk->spec.size_gib + 1 + (int64_t)random_below(&random, HAND_GIB);
    CLEANUP(json_decrefp)
    json_t *body = json_pack("{s:{s:I}}", "properties", "diskSizeGB", (json_int_t)gib);
    struct operation *operation;
    struct refusal *refusal = disk_patch(disk, body, &operation);
    if (!refusal) {
        sim_note(sim, "by hand: disk %s grows to %lld GiB", disk->name, (long long)gib);
        found->by_hand_gib = gib;
    }
    refusal_free(refusal);
    model_commit(sim->azure);
}

/* What is left of the shares; 0: it keeps them. Who needs several, or a fence, keeps two. */
static unsigned fewer_shares(const struct volume *volume)
{
    unsigned least = volume->wish.block || volume_is_fenced(volume) ? 2 : 1;

    return volume->phase == VOLUME_BOUND && volume_shares(volume) > least ? least : 0;
}

/* Azure refuses it while a VM has the disk. */
static bool lower_shares(struct sim *sim, struct volume *volume)
{
    unsigned shares = fewer_shares(volume);
    struct disk *disk = shares ? disk_find(sim->azure, volume->disk) : NULL;
    struct operation *operation;

    if (!disk || !list_is_empty(&disk->attachments))
        return false;
    CLEANUP(json_decrefp)
    json_t *body = json_pack("{s:{s:i}}", "properties", "maxShares", (int)shares);
    struct refusal *refusal = disk_patch(disk, body, &operation);
    bool accepted = !refusal;
    if (accepted) {
        sim_note(sim, "by hand: disk %s has maxShares %u", disk->name, shares);
        volume->by_hand_shares = shares;
        coverage_count("maxShares", "lowered by hand", shares > 1 ? "several" : "one");
    }
    refusal_free(refusal);
    model_commit(sim->azure);
    return accepted;
}

static void lower_shares_of_one(struct task *self, void *arg)
{
    struct sim *sim = arg;
    uint64_t until = loop_now(sim->loop) + SHARES_MS;
    struct err *err = NULL;

    while (!err && loop_now(sim->loop) < until) {
        LIST_FOREACH(&sim->world->volumes, link) {
            if (lower_shares(sim, VOLUME_OF(link)))
                return;
        }
        err = task_sleep(self, LOOK_MS);
    }
    err_free(err);
}

void hand_lowers_shares(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    group_spawn(&sim->tasks, "by hand", lower_shares_of_one, sim);
}

void hand_does_nothing(struct sim *sim, const struct incident *incident)
{
    (void)sim, (void)incident;
}
