#include "provisioner-lib/azure/vm_batch.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/azure/disk_hold.h"
#include "provisioner-lib/azure/vm_model.h"

/* ---- disks under change ---- */

/* What was to leave in exchange and has left before is not changed here: other VMs may have it. */
static bool changes_disk(const struct vm *vm, const struct vm_request *request, size_t i)
{
    return i == 0 || !vm->known || vm_model_find(&vm->model, request->disks[i]);
}

/* Its own disk comes or goes; the others go in exchange. */
static enum vm_change_kind kind_of(const struct vm_request *request, size_t i)
{
    return i == 0 ? request->change->kind : VM_DETACH;
}

uint64_t vm_request_waits_until(const struct vm *vm, const struct vm_request *request)
{
    uint64_t until = 0;

    for (size_t i = 0; i < request->n_disks; i++) {
        uint64_t other = changes_disk(vm, request, i)
                             ? disk_hold_until(vm, request->disks[i], kind_of(request, i))
                             : 0;

        until = other > until ? other : until;
    }
    return until;
}

uint64_t vm_pending_waits_until(const struct vm *vm)
{
    uint64_t first = TIMER_NEVER;

    LIST_FOREACH(&vm->pending, link) {
        uint64_t until = vm_request_waits_until(vm, vm_request_of(link));

        first = until && until < first ? until : first;
    }
    return first;
}

bool vm_batch_overlaps(const struct vm *vm, const struct vm_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++)
        if (batch->requests[i]->n_disks > 0 &&
            disk_hold_is_shared(vm, batch->requests[i]->disks[0]))
            return true;
    return false;
}

static void tell_accepted(const struct vm_batch *batch, bool yes)
{
    for (size_t i = 0; i < batch->n; i++) {
        struct vm_request *request = batch->requests[i];

        if (request->change->accepted && request->accepted != yes)
            request->change->accepted(request->change->ctx, yes);
        request->accepted = yes;
    }
}

void vm_batch_accepted(struct vm *vm, const struct vm_batch *batch)
{
    disk_hold_open_all(vm);
    tell_accepted(batch, true);
}

void vm_batch_failed(const struct vm_batch *batch)
{
    tell_accepted(batch, false);
}

/* ---- places ---- */

int vm_request_places(const struct vm *vm, const struct vm_request *request)
{
    bool attaches = request->change->kind == VM_ATTACH;
    int places = 0;

    for (size_t i = 0; i < request->n_disks; i++) {
        bool there = vm_model_find(&vm->model, request->disks[i]) != NULL;

        places += attaches && i == 0 ? !there : -there;
    }
    return places;
}

int vm_room(const struct vm *vm)
{
    int room = vm->model.max_disks;

    if (!vm->known || cloud_source_is_guess(vm->model.max_disks_from))
        return INT_MAX;
    for (size_t i = 0; i < vm->model.n_slots; i++)
        room -= !vm->model.slots[i].leaving;
    LIST_FOREACH(&vm->pending, link) {
        int places = vm_request_places(vm, vm_request_of(link));

        room -= places < 0 ? places : 0;
    }
    return room;
}

bool vm_lacks_room(const struct vm *vm)
{
    int room = vm_room(vm);

    LIST_FOREACH(&vm->pending, link) {
        int places = vm_request_places(vm, vm_request_of(link));

        if (places > room)
            return true;
        room -= places > 0 ? places : 0;
    }
    return false;
}

/* ---- batches ---- */

/* One attaches what the other takes away: they go one after the other. */
static bool contradict(const struct vm_request *a, const struct vm_request *b)
{
    const struct vm_request *attach = a->change->kind == VM_ATTACH ? a : b;
    const struct vm_request *other = attach == a ? b : a;
    size_t first = other->change->kind == VM_ATTACH ? 1 : 0;

    for (size_t i = first; attach->change->kind == VM_ATTACH && i < other->n_disks; i++)
        if (strcmp(other->disks[i], attach->disks[0]) == 0)
            return true;
    return false;
}

static bool fits(const struct vm_batch *batch, const struct vm_request *request)
{
    const struct vm_request *first = batch->requests[0];

    if (batch->n == 0)
        return true;
    if (batch->n == MAX_BATCH || batch->n > request->max_batch ||
        request->max_batch != first->max_batch || request->change->kind == VM_REPAIR ||
        first->change->kind == VM_REPAIR)
        return false;
    for (size_t i = 0; i < batch->n; i++)
        if (contradict(batch->requests[i], request) || contradict(request, batch->requests[i]))
            return false;
    return true;
}

void vm_batch_take(struct vm *vm, struct vm_batch *batch)
{
    int room = vm_room(vm);

    batch->n = 0;
    LIST_FOREACH(&vm->pending, link) {
        struct vm_request *request = vm_request_of(link);
        int places = vm_request_places(vm, request);

        if (vm_request_waits_until(vm, request) || places > room || !fits(batch, request))
            continue;
        room -= places > 0 ? places : 0;
        list_remove(&request->link);
        batch->requests[batch->n++] = request;
    }
    for (size_t i = 0; i < batch->n; i++)
        for (size_t k = 0; k < batch->requests[i]->n_disks; k++)
            if (changes_disk(vm, batch->requests[i], k))
                disk_hold_take(vm, batch->requests[i]->disks[k], kind_of(batch->requests[i], k));
}

static bool is_out_of_service(const struct vm_change *change)
{
    return change->out_of_service && change->out_of_service(change->ctx);
}

bool vm_batch_is_out_of_service(const struct vm_batch *batch)
{
    bool all = true;

    for (size_t i = 0; i < batch->n; i++)
        all &= is_out_of_service(batch->requests[i]->change);
    return all;
}

/* ---- as one update ---- */

static void add_detach(struct vm_batch_update *whole, const char *disk_id, bool forced)
{
    for (size_t i = 0; i < whole->update.n_detach; i++)
        if (strcasecmp(whole->detach[i].disk_id, disk_id) == 0)
            return;
    if (whole->update.n_detach < COUNT_OF(whole->detach))
        whole->detach[whole->update.n_detach++] = (struct vm_detach){disk_id, forced};
}

/* An earlier detach has not ended, or the VM's last change has not, and nobody there could be
 * harmed. Where Azure would not have it, or it does not help, ordinary ones are tried in between.
 */
static bool is_forced(const struct vm *vm, const struct vm_change *change)
{
    const struct cloud_slot *slot = vm_model_find(&vm->model, change->disk_id);

    if (!is_out_of_service(change) || !slot || vm->cache->way == VM_UPDATE_BY_SHORT_LIST ||
        loop_now(vm->cache->loop) < vm->unforced_until)
        return false;
    return vm->outlasted || (slot->leaving && vm->model.state != CLOUD_INSTANCE_CHANGING);
}

static void add_own_detach(const struct vm *vm, struct vm_batch_update *whole,
                           const struct vm_change *change)
{
    bool forced = is_forced(vm, change);

    if (change->forced)
        *change->forced = forced;
    add_detach(whole, change->disk_id, forced);
}

/* Of what goes in exchange only what is there: Azure refuses to detach what is not. */
static void add_exchange(const struct vm *vm, struct vm_batch_update *whole,
                         const struct vm_change *change)
{
    for (size_t i = 0; i < change->n_swap_out; i++)
        if (vm_model_find(&vm->model, change->swap_out[i]))
            add_detach(whole, change->swap_out[i], false);
}

bool vm_update_is_forced(const struct vm_update *update)
{
    bool forced = false;

    for (size_t i = 0; i < update->n_detach; i++)
        forced |= update->detach[i].forced;
    return forced;
}

struct vm_batch_update *vm_batch_update_of(const struct vm *vm, const struct vm_batch *batch)
{
    struct vm_batch_update *whole = mem_alloc(sizeof *whole);

    whole->update = (struct vm_update){
        .attach = whole->attach, .detach = whole->detach, .urgency = CLOUD_COLLECTION};
    for (size_t i = 0; i < batch->n; i++) {
        const struct vm_change *change = batch->requests[i]->change;

        if (change->urgency < whole->update.urgency)
            whole->update.urgency = change->urgency;
        if (change->kind == VM_DETACH)
            add_own_detach(vm, whole, change);
        if (change->kind != VM_ATTACH)
            continue;
        whole->attach[whole->update.n_attach++] = (struct vm_attach){
            change->disk_id, change->lun, change->caching, change->write_accelerator};
        add_exchange(vm, whole, change);
    }
    return whole;
}
