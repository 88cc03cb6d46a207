#include "test/sim/azure_hand.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/attachment.h"
#include "test/sim/record.h"
#include "test/sim/sim.h"

enum { PATIENCE_MS = 10 * 1000 }; /* of a person who was refused */

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

static bool detach(struct sim *sim, struct vm *vm, const struct disk *disk)
{
    sim_note(sim, "by hand: disk %s is detached from %s", disk->name, vm->spec.name);
    return change(vm, json_pack("{s:[{s:s}]}", "dataDisksToDetach", "diskId", disk->id));
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
            const struct record *record = record_find(sim, attachment->disk->name, vm->spec.name);

            if (attachment->attached && record && !record->primary && !record->deleting &&
                detach(sim, vm, attachment->disk))
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

static bool attach(struct sim *sim, struct vm *vm, const struct disk *disk)
{
    if (!has_share(disk) || attachment_find(vm, disk) ||
        record_find(sim, disk->name, vm->spec.name))
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
            const struct volume_record *volume = record_volume(sim, disk->name);

            if (volume && !volume->deleting && attach(sim, vm, disk))
                return;
        }
        vm = next_vm(sim, vm);
    } while (vm != first);
}

/* In the VM's model, attached by people; NULL if there is nothing. */
static const struct disk *find_foreign(struct sim *sim, const struct vm *vm)
{
    for (size_t i = 0; i < vm->data_disks.n; i++) {
        const struct disk *disk = data_disk_disk(sim->azure, &vm->data_disks.items[i]);

        if (disk && record_volume(sim, disk->name) && !record_find(sim, disk->name, vm->spec.name))
            return disk;
    }
    return NULL;
}

/* One of each VM, for then the VM is changing; whether nothing is left. A detach may be refused, or
 * fail. */
static bool detach_all(struct sim *sim)
{
    bool none_left = true;

    HASH_FOREACH(sim->azure->vms, vm) {
        const struct disk *disk = find_foreign(sim, vm);

        if (disk)
            detach(sim, vm, disk);
        none_left &= !disk;
    }
    return none_left;
}

static void detach_until_done(struct task *self, void *arg)
{
    struct err *err = NULL;

    while (!err && !detach_all(arg))
        err = task_sleep(self, PATIENCE_MS);
    err_free(err);
}

void hand_detaches_disk(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    group_spawn(&sim->tasks, "by hand", detach_until_done, sim);
}

void hand_does_nothing(struct sim *sim, const struct incident *incident)
{
    (void)sim, (void)incident;
}
