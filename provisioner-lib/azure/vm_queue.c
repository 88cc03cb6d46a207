#include "provisioner-lib/azure/vm_queue.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "provisioner-lib/azure/arm_error.h"
#include "provisioner-lib/azure/azure_metrics.h"
#include "provisioner-lib/azure/disk_hold.h"
#include "provisioner-lib/azure/resource_id.h"
#include "provisioner-lib/azure/vm_model.h"
#include "provisioner-lib/azure/vm_settle.h"

enum {
    COALESCE_MS = 2000,
    SETTLE_MS = 10 * 1000,
    /* A change that Azure tells nothing of is taken to have ended then: what comes too early is
     * only refused, and whoever waits for a disk must not wait for ever. */
    UNKNOWN_MS = 2 * 60 * 1000,
    UNFORCED_MS = 10 * 60 * 1000, /* after a detach by force that came to nothing */
    UNSEEN_PAUSE_MS = 2000,       /* after a look that failed; then longer */
};

/* ---- waiting and answering ---- */

/* Behind those that are as urgent. */
static void enqueue(struct vm *vm, struct vm_request *request)
{
    struct list *before = &vm->pending;

    LIST_FOREACH(&vm->pending, link) {
        if (vm_request_of(link)->change->urgency <= request->change->urgency)
            continue;
        before = link;
        break;
    }
    list_append(before, &request->link);
}

static void answer(struct vm *vm, struct vm_request *request, struct err *err)
{
    if (!err && request->change->seen)
        *request->change->seen = cloud_instance_share(&vm->model);
    request->err = err;
    request->done = true;
    waiters_wake(&vm->finished);
}

/* Errors are owned by one request each. */
static struct err *copy_of(const struct err *err)
{
    struct err *copy = err_kind(err) == ERR_THROTTLED
                           ? err_throttled(err_retry_after_ms(err), "%s", err_message(err))
                           : err_new(err_kind(err), "%s", err_message(err));

    return err_code(err) ? err_with_code(copy, err_code(err)) : copy;
}

static void answer_pending(struct vm *vm, const struct err *err)
{
    struct list *link;

    while ((link = list_take_first(&vm->pending)))
        answer(vm, vm_request_of(link), copy_of(err));
}

/* ---- what the model says ---- */

/* Of a request that Azure says is done. */
static struct err *verify(const struct vm *vm, const struct vm_change *change)
{
    const struct cloud_slot *slot =
        change->kind == VM_REPAIR ? NULL : vm_model_find(&vm->model, change->disk_id);

    switch (change->kind) {
    case VM_REPAIR:
        return vm->model.state == CLOUD_INSTANCE_SETTLED
                   ? NULL
                   : err_new(ERR_BUSY, "%s is still being updated", vm->id);
    case VM_DETACH:
        return slot ? err_new(ERR_BUSY, "disk %s is still being detached from %s", change->disk_id,
                              vm->id)
                    : NULL;
    case VM_ATTACH:
        if (slot && !slot->leaving && slot->lun == change->lun)
            return NULL;
        return err_new(ERR_CONFLICT, "disk %s is not at LUN %d of %s although the attach succeeded",
                       change->disk_id, change->lun, vm->id);
    }
    abort();
}

static bool is_fulfilled(const struct vm *vm, const struct vm_change *change)
{
    CLEANUP(err_freep) struct err *err = verify(vm, change);

    return !err && (change->kind == VM_DETACH || vm->model.state == CLOUD_INSTANCE_SETTLED);
}

/* `disk_id` NULL: of all disks. */
static void answer_unwanted(struct vm *vm, const char *disk_id)
{
    LIST_FOREACH(&vm->pending, link) {
        struct vm_request *request = vm_request_of(link);
        const struct vm_change *change = request->change;

        if (!change->precondition || (disk_id && !resource_id_equal(change->disk_id, disk_id)) ||
            change->precondition(change->ctx, vm->known ? &vm->model : NULL))
            continue;
        list_remove(&request->link);
        answer(vm, request,
               err_new(ERR_CONFLICT, "the request to attach disk %s to %s has been withdrawn",
                       change->disk_id, vm->id));
    }
}

/* Some of them by changes that were made for others, or that failed for others' sake. */
static void answer_fulfilled(struct vm *vm)
{
    LIST_FOREACH(&vm->pending, link) {
        struct vm_request *request = vm_request_of(link);

        if (!vm->known || vm->known_at < request->since || request->change->kind == VM_REPAIR ||
            !is_fulfilled(vm, request->change))
            continue;
        list_remove(&request->link);
        answer(vm, request, NULL);
    }
}

/* One that depends on what is there: on what became of it before, on the disks that leave for it,
 * or, as a replica's, on whether the place is left over. */
static bool depends_on_model(const struct vm_request *request)
{
    return request->retried || request->change->n_swap_out > 0 ||
           request->change->urgency == CLOUD_FOR_REPLICA;
}

/* A primary's first request needs no model, unless there was no room for it in that of before. */
static bool needs_model(const struct vm *vm)
{
    LIST_FOREACH(&vm->pending, link) {
        const struct vm_request *request = vm_request_of(link);
        bool older = vm->known_at < request->since;

        if (!vm->known ? depends_on_model(request) : older && vm_lacks_room(vm))
            return true;
    }
    return false;
}

/* Those that wait for nothing but room, of which the model has none. False if there are none; later
 * ones than the model are to be looked at once more. */
static bool refuse_surplus(struct vm *vm)
{
    int room = vm_room(vm);
    bool found = false;

    LIST_FOREACH(&vm->pending, link) {
        struct vm_request *request = vm_request_of(link);

        if (vm_request_waits_until(vm, request) || vm_request_places(vm, request) <= room)
            continue;
        found = true;
        if (vm->known_at < request->since)
            continue;
        list_remove(&request->link);
        answer(vm, request,
               err_new(ERR_EXHAUSTED, "all %d disk slots of %s are taken", vm->model.max_disks,
                       vm->id));
    }
    return found;
}

/* ---- one change on its way ---- */

static struct err *send(struct task *self, struct vm *vm, const struct vm_update *update)
{
    enum vm_update_way list = VM_UPDATE_BY_LIST; /* takes the place of what does not end */
    bool known = vm->known, replaces = vm->outlasted && vm->cache->way < list;

    vm_outdate(vm);
    vm->under_way = true;
    struct err *err =
        vm_update_send(self, vm->cache->arm, vm->id, update, replaces ? &list : &vm->cache->way);
    vm->under_way = false;
    if (!err || err_kind(err) != ERR_NOT_SENT)
        vm_outdate(vm); /* whatever was read meanwhile may be from before */
    else
        vm->known = known;
    return err;
}

/* For a VM on which Azure does not count one against the other. */
static struct err *send_in_two(struct task *self, struct vm *vm, const struct vm_update *update)
{
    struct vm_update first = *update, second = *update;

    first.n_attach = 0;
    first.accepted = NULL; /* until both are */
    second.n_detach = 0;
    TRY(send(self, vm, &first));
    return send(self, vm, &second);
}

static void observe(const struct vm *vm, const struct vm_batch *batch,
                    const struct vm_update *update)
{
    static const char *const names[CLOUD_URGENCIES] = {
        [CLOUD_FOR_PRIMARY] = "primary", [CLOUD_IN_THE_WAY] = "in_the_way",
        [CLOUD_FOR_REPLICA] = "replica", [CLOUD_COLLECTION] = "collection",
        [CLOUD_AUDIT] = "audit",
    };
    uint64_t now = loop_now(vm->cache->loop);

    metric_observe(&METRIC_AZURE_VM_UPDATE_DISKS, (double)(update->n_attach + update->n_detach),
                   NULL);
    for (size_t i = 0; i < batch->n; i++)
        metric_observe(&METRIC_AZURE_VM_QUEUE_SECONDS,
                       (double)(now - batch->requests[i]->since) / 1000,
                       names[batch->requests[i]->change->urgency]);
}

struct sent_batch {
    struct vm *vm;
    const struct vm_batch *batch;
};

static void accepted(void *ctx)
{
    const struct sent_batch *sent = ctx;

    vm_note_free(sent->vm);
    vm_batch_accepted(sent->vm, sent->batch);
}

static uint64_t patience(void *ctx)
{
    const struct sent_batch *sent = ctx;

    return vm_patience_ms(sent->vm, sent->batch);
}

static struct err *send_batch(struct task *self, struct vm *vm, const struct vm_batch *batch)
{
    CLEANUP(freep) struct vm_batch_update *whole = vm_batch_update_of(vm, batch);
    struct sent_batch sent = {vm, batch};
    struct vm_update *update = &whole->update;

    update->most_ms = patience;
    update->accepted = accepted;
    update->ctx = &sent;
    observe(vm, batch, update);
    struct err *err = send(self, vm, update);
    if (err && vm_update_is_forced(update))
        vm->unforced_until = loop_now(vm->cache->loop) + UNFORCED_MS;
    if (err && err_kind(err) == ERR_EXHAUSTED && batch->n == 1 && update->n_attach == 1 &&
        update->n_detach > 0) {
        err_free(err);
        err = send_in_two(self, vm, update);
    }
    return err;
}

/* For all VMs of the size, so that none is refused the same again. */
static void note_refusal(const struct vm *vm, const struct err *err)
{
    int count = arm_error_data_disks(err);
    CLEANUP(freep) char *size = mem_strdup(vm->model.size);

    if (!count || !size)
        return;
    skus_note_refusal(vm->cache->skus, size, count);
    HASH_FOREACH(vm->cache->vms, other) {
        if (!other->model.size || strcasecmp(other->model.size, size) != 0)
            continue;
        other->model.max_disks = count;
        other->model.max_disks_from = CLOUD_REFUSED;
    }
}

static enum arm_kind update_kind(const struct vm *vm)
{
    return vm_id_is_instance(vm->id) ? ARM_INSTANCE_UPDATE : ARM_VM_UPDATE;
}

/* They are sent again when it is their turn: with fewer others, or when Azure takes requests. */
static void requeue(struct vm *vm, const struct vm_batch *batch, size_t max_batch,
                    const char *reason)
{
    metric_add(&METRIC_AZURE_RETRIES, 1, arm_kind_name(update_kind(vm)), reason);
    vm_batch_failed(batch);
    for (size_t i = 0; i < batch->n; i++) {
        batch->requests[i]->max_batch = max_batch;
        batch->requests[i]->retried = true;
        enqueue(vm, batch->requests[i]);
    }
}

static void see_it_end(struct task *self, struct vm *vm, enum cloud_urgency urgency)
{
    uint64_t deadline = loop_now(vm->cache->loop) + UNKNOWN_MS, now, pause = UNSEEN_PAUSE_MS;

    while (!task_is_cancelled(self) && (now = loop_now(vm->cache->loop)) < deadline) {
        CLEANUP(err_freep) struct err *err = vm_settle(self, vm, urgency, deadline - now);

        if (!err && vm->model.state == CLOUD_INSTANCE_CHANGING)
            vm_note_overrun(vm);
        if (!err || err_kind(err) == ERR_NOT_FOUND)
            return;
        answer_pending(vm, err);
        err_free(task_sleep(self, pause));
        pause *= 2;
    }
}

/* Some cloud may not attach a disk to two VMs at once; then one comes after the other. */
static bool is_for_overlap(const struct vm *vm, const struct vm_batch *batch, const struct err *err)
{
    return err_kind(err) == ERR_BUSY && arm_error_may_be_of_one_disk(err) &&
           loop_now(vm->cache->loop) >= vm->cache->overlaps_after && vm_batch_overlaps(vm, batch);
}

/* Returns how long the VM is to rest then. */
static uint64_t carry_out(struct task *self, struct vm *vm, const struct vm_batch *batch)
{
    bool repair = batch->requests[0]->change->kind == VM_REPAIR;
    enum cloud_urgency urgency = batch->requests[0]->change->urgency; /* the most urgent one's */
    CLEANUP(err_freep) struct err *err = send_batch(self, vm, batch);
    bool unknown = err && vm_outcome_is_unknown(err);

    if (err)
        note_refusal(vm, err);
    if (err && err_kind(err) == ERR_THROTTLED) {
        log_info("%s: %zu changes are waiting: %s", vm->id, batch->n, err_message(err));
        requeue(vm, batch, batch->requests[0]->max_batch, "throttled");
        return err_retry_after_ms(err);
    }
    if (err && is_for_overlap(vm, batch, err)) {
        disk_hold_refused(vm->cache);
        requeue(vm, batch, batch->requests[0]->max_batch, "overlap");
        return 0;
    }
    if (err && batch->n > 1 && arm_error_may_be_of_one_disk(err)) {
        requeue(vm, batch, (batch->n + 1) / 2 - 1, "halved");
        return 0;
    }
    /* A repair that finds nothing to do is no operation that could be followed, but the model says
     * for a moment that it is changing. */
    if (!err)
        err = vm_settle(self, vm, urgency, repair ? SETTLE_MS : 0);
    for (size_t i = 0; i < batch->n; i++)
        answer(vm, batch->requests[i], err ? copy_of(err) : verify(vm, batch->requests[i]->change));
    if (unknown)
        see_it_end(self, vm, urgency);
    else if (err && vm_is_changed_by_others(err))
        vm_see_others_end(self, vm, urgency);
    return 0;
}

/* ---- the task of a VM that has requests ---- */

/* What comes a moment too late waits for a whole change; so what is known to come is waited for,
 * from when there is something to send, and nothing is under way. */
static void coalesce(struct task *self, struct vm *vm)
{
    uint64_t asked_at = vm_request_of(vm->pending.next)->since;
    uint64_t limit = (asked_at > vm->free_since ? asked_at : vm->free_since) + COALESCE_MS;
    struct err *err = NULL;

    while (!err && vm->expected > 0)
        err = wait_for_change(self, &vm->cache->changed, limit);
    err_free(
        err); /* it has been long enough, or the process is shutting down, which the caller sees */
}

/* Until a change may be sent. Whatever comes meanwhile goes with it. */
static struct err *wait_ready(struct task *self, struct vm *vm)
{
    const struct vm_request *first = vm_request_of(vm->pending.next);
    struct arm_request request = {.kind = update_kind(vm),
                                  .path = vm->id,
                                  .resource = vm->id,
                                  .urgency = first->change->urgency};

    vm->turn = &request;
    struct err *err = arm_client_wait(self, vm->cache->arm, &request);
    vm->turn = NULL;
    TRY(err);
    if (!needs_model(vm))
        return NULL;
    return vm_refresh(self, vm, vm->known ? 0 : UINT64_MAX, request.urgency);
}

static void next_change(struct task *self, struct vm *vm)
{
    struct vm_batch batch;

    coalesce(self, vm);
    if (list_is_empty(&vm->pending))
        return; /* whoever asked has given up meanwhile */
    CLEANUP(err_freep) struct err *err = wait_ready(self, vm);

    if (err) {
        answer_pending(vm, err);
        return;
    }
    answer_fulfilled(vm);
    answer_unwanted(vm, NULL);
    vm_batch_take(vm, &batch);
    if (batch.n > 0) {
        uint64_t rest = carry_out(self, vm, &batch);

        disk_hold_release_all(vm); /* at once: other VMs may have use for them meanwhile */
        vm->free_since = loop_now(vm->cache->loop);
        /* Even for nothing: who was answered goes on meanwhile, and may tell of more. */
        err_free(task_sleep(self, rest));
    } else if (!refuse_surplus(vm) && !list_is_empty(&vm->pending)) {
        err_free(wait_for_change(self, &vm->cache->changed, vm_pending_waits_until(vm)));
    }
}

static void work(struct task *self, void *arg)
{
    struct vm *vm = arg;
    CLEANUP(err_freep) struct err *ending = err_new(ERR_CANCELED, "the process is shutting down");

    while (!list_is_empty(&vm->pending) && !task_is_cancelled(self))
        next_change(self, vm);
    answer_pending(vm, ending);
    vm->working = false;
    vm_forget_if_gone(vm);
}

/* ---- asking ---- */

static void note_disks(struct vm_request *request)
{
    const struct vm_change *change = request->change;

    if (change->kind != VM_REPAIR)
        ARRAY_ADD(request->disks, request->n_disks) = mem_lower(change->disk_id);
    for (size_t i = 0; change->kind == VM_ATTACH && i < change->n_swap_out; i++)
        ARRAY_ADD(request->disks, request->n_disks) = mem_lower(change->swap_out[i]);
}

static void forget_disks(struct vm_request *request)
{
    for (size_t i = 0; i < request->n_disks; i++)
        free(request->disks[i]);
    free(request->disks);
}

void vm_announce(struct vm_cache *cache, const char *id, bool coming)
{
    struct vm *vm = vm_enter(cache, id);

    vm->expected = coming ? vm->expected + 1 : vm->expected - 1;
    if (vm->expected == 0)
        waiters_wake(&cache->changed);
    vm_leave(vm);
}

void vm_reconsider(struct vm_cache *cache, const char *disk_id)
{
    HASH_FOREACH(cache->vms, vm) {
        answer_unwanted(vm, disk_id);
    }
}

struct err *vm_change(struct task *self, struct vm_cache *cache, const char *id,
                      const struct vm_change *change)
{
    struct vm *vm = vm_enter(cache, id);
    struct vm_request request = {
        .change = change, .max_batch = MAX_BATCH, .since = loop_now(cache->loop)};

    note_disks(&request);
    enqueue(vm, &request);
    vm_hurry(vm, change->urgency);
    waiters_wake(&cache->changed);
    if (!vm->working) {
        vm->working = group_spawn(cache->group, "vm changes", work, vm);
        if (!vm->working) {
            CLEANUP(err_freep)
            struct err *ending = err_new(ERR_CANCELED, "the process is shutting down");

            answer_pending(vm, ending);
        }
    }
    task_trim_stack(self); /* it may take minutes, and there are as many as volumes that move */
    while (!request.done)
        wait_uninterruptible(self, &vm->finished);
    forget_disks(&request);
    vm_leave(vm);
    return request.err;
}
