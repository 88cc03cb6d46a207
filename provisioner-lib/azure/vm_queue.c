/* The queue of a VM: requests are gathered into changes, and changes are carried out one after the
 * other. */

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "provisioner-lib/azure/arm_error.h"
#include "provisioner-lib/azure/azure_metrics.h"
#include "provisioner-lib/azure/vm.h"
#include "provisioner-lib/azure/vm_model.h"

enum { MAX_BATCH = VM_LUNS, SETTLE_TRIES = 5, SETTLE_PAUSE_MS = 2000 };

/* What a task asked for; it is on that task's stack, which waits until `done`. */
struct request {
    struct list link;
    const struct vm_change *change;
    char **disks; /* that it concerns, in lower case: its own first, then those in exchange */
    size_t n_disks;
    size_t company; /* goes with so many others at most, all of whom have the same number: there may
                       be one among them that spoils it for all */
    bool retried;   /* was sent and refused; what the model says now is wanted first */
    uint64_t since;
    bool done;
    struct err *err;
};

static struct request *request_of(struct list *link)
{
    return CONTAINER_OF(link, struct request, link);
}

/* ---- waiting and answering ---- */

/* Behind those that are as urgent. */
static void enqueue(struct vm *vm, struct request *request)
{
    struct list *before = &vm->pending;

    LIST_FOREACH(&vm->pending, link) {
        if (request_of(link)->change->urgency <= request->change->urgency)
            continue;
        before = link;
        break;
    }
    list_append(before, &request->link);
}

static void answer(struct vm *vm, struct request *request, struct err *err)
{
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
        answer(vm, request_of(link), copy_of(err));
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
                   : err_new(ERR_BUSY, "%s is not settled yet", vm->id);
    case VM_DETACH:
        return slot ? err_new(ERR_BUSY, "disk %s is still leaving %s", change->disk_id, vm->id)
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

/* Some of them by changes that were made for others, or that failed for others' sake. */
static void answer_fulfilled(struct vm *vm)
{
    LIST_FOREACH(&vm->pending, link) {
        struct request *request = request_of(link);

        if (!vm->known || vm->known_at < request->since || request->change->kind == VM_REPAIR ||
            !is_fulfilled(vm, request->change))
            continue;
        list_remove(&request->link);
        answer(vm, request, NULL);
    }
}

/* A first request needs no model; one that depends on what is there does. */
static bool needs_model(const struct vm *vm)
{
    LIST_FOREACH(&vm->pending, link) {
        const struct request *request = request_of(link);

        if (!vm->known && (request->retried || request->change->n_in_exchange > 0))
            return true;
    }
    return false;
}

/* ---- disks under change ---- */

static struct busy_disk *find_busy(const struct vms *vms, const char *disk)
{
    struct busy_disk *busy;

    HASH_FIND_STR(vms->busy, disk, busy);
    return busy;
}

/* Does another VM's change concern one of its disks? */
static bool must_wait(const struct vm *vm, const struct request *request)
{
    for (size_t i = 0; i < request->n_disks; i++) {
        const struct busy_disk *busy = find_busy(vm->vms, request->disks[i]);

        if (busy && busy->vm != vm)
            return true;
    }
    return false;
}

static void occupy(const struct vm *vm, const char *disk)
{
    struct busy_disk *busy = find_busy(vm->vms, disk);

    if (!busy) {
        busy = mem_alloc(sizeof *busy);
        *busy = (struct busy_disk){.disk = mem_strdup(disk), .vm = vm};
        HASH_ADD_KEYPTR(hh, vm->vms->busy, busy->disk, strlen(busy->disk), busy);
    }
    busy->n++;
}

static void release(struct vms *vms, const char *disk)
{
    struct busy_disk *busy = find_busy(vms, disk);

    if (--busy->n > 0)
        return;
    HASH_DEL(vms->busy, busy);
    free(busy->disk);
    free(busy);
    waiters_wake(&vms->changed);
}

/* ---- batches ---- */

struct batch {
    struct request *requests[MAX_BATCH];
    size_t n;
};

/* One attaches what the other takes away: they go one after the other. */
static bool contradict(const struct request *a, const struct request *b)
{
    const struct request *attach = a->change->kind == VM_ATTACH ? a : b;
    const struct request *other = attach == a ? b : a;
    size_t first = other->change->kind == VM_ATTACH ? 1 : 0;

    for (size_t i = first; attach->change->kind == VM_ATTACH && i < other->n_disks; i++)
        if (strcmp(other->disks[i], attach->disks[0]) == 0)
            return true;
    return false;
}

static bool fits(const struct batch *batch, const struct request *request)
{
    const struct request *first = batch->requests[0];

    if (batch->n == 0)
        return true;
    if (batch->n == MAX_BATCH || batch->n > request->company ||
        request->company != first->company || request->change->kind == VM_REPAIR ||
        first->change->kind == VM_REPAIR)
        return false;
    for (size_t i = 0; i < batch->n; i++)
        if (contradict(batch->requests[i], request) || contradict(request, batch->requests[i]))
            return false;
    return true;
}

/* What can go out now: everything whose disks no other VM's change concerns. A repair goes alone.
 */
static void take_batch(struct vm *vm, struct batch *batch)
{
    batch->n = 0;
    LIST_FOREACH(&vm->pending, link) {
        struct request *request = request_of(link);

        if (must_wait(vm, request) || !fits(batch, request))
            continue;
        list_remove(&request->link);
        batch->requests[batch->n++] = request;
    }
    for (size_t i = 0; i < batch->n; i++)
        for (size_t k = 0; k < batch->requests[i]->n_disks; k++)
            occupy(vm, batch->requests[i]->disks[k]);
}

static void release_batch(struct vm *vm, const struct batch *batch)
{
    for (size_t i = 0; i < batch->n; i++)
        for (size_t k = 0; k < batch->requests[i]->n_disks; k++)
            release(vm->vms, batch->requests[i]->disks[k]);
}

/* ---- one change on its way ---- */

struct update_lists {
    struct vm_attach attach[MAX_BATCH];
    const char *detach[2 * MAX_BATCH];
    struct vm_update update;
};

static void add_detach(struct update_lists *lists, const char *disk_id)
{
    for (size_t i = 0; i < lists->update.n_detach; i++)
        if (strcasecmp(lists->detach[i], disk_id) == 0)
            return;
    if (lists->update.n_detach < COUNT_OF(lists->detach))
        lists->detach[lists->update.n_detach++] = disk_id;
}

/* Of what goes in exchange only what is there: Azure refuses to detach what is not. */
static void add_exchange(const struct vm *vm, struct update_lists *lists,
                         const struct vm_change *change)
{
    for (size_t i = 0; i < change->n_in_exchange; i++)
        if (vm_model_find(&vm->model, change->in_exchange[i]))
            add_detach(lists, change->in_exchange[i]);
}

static struct update_lists *lists_of(const struct vm *vm, const struct batch *batch)
{
    struct update_lists *lists = mem_alloc(sizeof *lists);

    lists->update = (struct vm_update){
        .attach = lists->attach, .detach = lists->detach, .urgency = CLOUD_COLLECTION};
    for (size_t i = 0; i < batch->n; i++) {
        const struct vm_change *change = batch->requests[i]->change;

        if (change->urgency < lists->update.urgency)
            lists->update.urgency = change->urgency;
        if (change->kind == VM_DETACH)
            add_detach(lists, change->disk_id);
        if (change->kind != VM_ATTACH)
            continue;
        lists->attach[lists->update.n_attach++] =
            (struct vm_attach){change->disk_id, change->lun, change->caching};
        add_exchange(vm, lists, change);
    }
    return lists;
}

static struct err *send(struct task *self, struct vm *vm, const struct vm_update *update)
{
    vm->known = false;
    struct err *err = vm_update_send(self, vm->vms->arm, vm->id, update, &vm->vms->way);
    vm->known = false; /* whatever was read meanwhile may be from before */
    return err;
}

/* For a VM on which Azure does not count one against the other. */
static struct err *send_in_two(struct task *self, struct vm *vm, const struct vm_update *update)
{
    struct vm_update first = *update, second = *update;

    first.n_attach = 0;
    second.n_detach = 0;
    TRY(send(self, vm, &first));
    return send(self, vm, &second);
}

static void observe(const struct vm *vm, const struct batch *batch, const struct vm_update *update)
{
    static const char *const names[CLOUD_URGENCIES] = {
        [CLOUD_FOR_PRIMARY] = "primary",
        [CLOUD_IN_THE_WAY] = "in_the_way",
        [CLOUD_FOR_REPLICA] = "replica",
        [CLOUD_COLLECTION] = "collection",
    };
    uint64_t now = loop_now(vm->vms->loop);

    metric_observe(&METRIC_AZURE_VM_UPDATE_DISKS, (double)(update->n_attach + update->n_detach),
                   NULL);
    for (size_t i = 0; i < batch->n; i++)
        metric_observe(&METRIC_AZURE_VM_QUEUE_SECONDS,
                       (double)(now - batch->requests[i]->since) / 1000,
                       names[batch->requests[i]->change->urgency]);
}

static struct err *send_batch(struct task *self, struct vm *vm, const struct batch *batch)
{
    CLEANUP(freep) struct update_lists *lists = lists_of(vm, batch);
    const struct vm_update *update = &lists->update;

    observe(vm, batch, update);
    struct err *err = send(self, vm, update);
    if (err && err_kind(err) == ERR_EXHAUSTED && batch->n == 1 && update->n_attach == 1 &&
        update->n_detach > 0) {
        err_free(err);
        err = send_in_two(self, vm, update);
    }
    return err;
}

static enum arm_kind update_kind(const struct vm *vm)
{
    return vm_id_is_instance(vm->id) ? ARM_INSTANCE_UPDATE : ARM_VM_UPDATE;
}

/* They are sent again when it is their turn: with fewer others, or when Azure takes requests. */
static void requeue(struct vm *vm, const struct batch *batch, size_t company, const char *reason)
{
    metric_add(&METRIC_AZURE_RETRIES, 1, arm_kind_name(update_kind(vm)), reason);
    for (size_t i = 0; i < batch->n; i++) {
        batch->requests[i]->company = company;
        batch->requests[i]->retried = true;
        enqueue(vm, batch->requests[i]);
    }
}

/* An update that finds nothing to do is no operation that could be followed, but the model says for
 * a moment that it is changing. */
static struct err *settle(struct task *self, struct vm *vm)
{
    TRY(vm_refresh(self, vm, UINT64_MAX));
    for (int i = 0; i < SETTLE_TRIES && vm->model.state == CLOUD_INSTANCE_CHANGING; i++) {
        TRY(task_sleep(self, SETTLE_PAUSE_MS));
        TRY(vm_refresh(self, vm, 0));
    }
    return NULL;
}

static void carry_out(struct task *self, struct vm *vm, const struct batch *batch)
{
    bool repair = batch->requests[0]->change->kind == VM_REPAIR;
    CLEANUP(err_freep) struct err *err = send_batch(self, vm, batch);

    if (err && err_kind(err) == ERR_THROTTLED) {
        log_info("%s: %zu changes wait: %s", vm->id, batch->n, err_message(err));
        requeue(vm, batch, batch->requests[0]->company, "throttled");
        err_free(task_sleep(self, err_retry_after_ms(err)));
        return;
    }
    if (err && batch->n > 1 && arm_error_may_be_of_one_disk(err)) {
        requeue(vm, batch, (batch->n + 1) / 2 - 1, "halved");
        return;
    }
    if (!err)
        err = repair ? settle(self, vm) : vm_refresh(self, vm, UINT64_MAX);
    for (size_t i = 0; i < batch->n; i++)
        answer(vm, batch->requests[i], err ? copy_of(err) : verify(vm, batch->requests[i]->change));
}

/* ---- the task of a VM that has requests ---- */

/* Until a change may be sent. Whatever comes meanwhile goes with it. */
static struct err *wait_ready(struct task *self, struct vm *vm)
{
    const struct request *first = request_of(vm->pending.next);
    const struct arm_request request = {
        .kind = update_kind(vm), .resource = vm->id, .urgency = first->change->urgency};

    TRY(arm_client_wait(self, vm->vms->arm, &request));
    return needs_model(vm) ? vm_refresh(self, vm, UINT64_MAX) : NULL;
}

static void next_change(struct task *self, struct vm *vm)
{
    struct batch batch;
    CLEANUP(err_freep) struct err *err = wait_ready(self, vm);

    if (err) {
        answer_pending(vm, err);
        return;
    }
    answer_fulfilled(vm);
    take_batch(vm, &batch);
    if (batch.n > 0) {
        carry_out(self, vm, &batch);
        release_batch(vm, &batch);
    } else if (!list_is_empty(&vm->pending)) {
        err_free(wait_for_change(self, &vm->vms->changed, TIMER_NEVER));
    }
}

static void work(struct task *self, void *arg)
{
    struct vm *vm = arg;
    CLEANUP(err_freep) struct err *ending = err_new(ERR_CANCELED, "the process is ending");

    while (!list_is_empty(&vm->pending) && !task_is_cancelled(self))
        next_change(self, vm);
    answer_pending(vm, ending);
    vm->working = false;
}

/* ---- asking ---- */

static void note_disks(struct request *request)
{
    const struct vm_change *change = request->change;

    if (change->kind != VM_REPAIR)
        ARRAY_ADD(request->disks, request->n_disks) = mem_lower(change->disk_id);
    for (size_t i = 0; change->kind == VM_ATTACH && i < change->n_in_exchange; i++)
        ARRAY_ADD(request->disks, request->n_disks) = mem_lower(change->in_exchange[i]);
}

static void forget_disks(struct request *request)
{
    for (size_t i = 0; i < request->n_disks; i++)
        free(request->disks[i]);
    free(request->disks);
}

struct err *vm_change(struct task *self, struct vms *vms, const char *id,
                      const struct vm_change *change)
{
    struct vm *vm = vms_find(vms, id);
    struct request request = {.change = change, .company = MAX_BATCH, .since = loop_now(vms->loop)};

    note_disks(&request);
    enqueue(vm, &request);
    waiters_wake(&vms->changed);
    if (!vm->working) {
        vm->working = group_spawn(vms->group, "vm changes", work, vm);
        if (!vm->working) {
            CLEANUP(err_freep) struct err *ending = err_new(ERR_CANCELED, "the process is ending");

            answer_pending(vm, ending);
        }
    }
    while (!request.done)
        wait_through(self, &vm->finished);
    forget_disks(&request);
    return request.err;
}
