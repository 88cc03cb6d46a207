#include "provisioner-lib/azure/vms.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"
#include "provisioner-lib/azure/vm_model.h"

enum {
    MAX_BATCH = 64, /* no VM has more places for data disks */
    CHANGING_AGE_MS = 1000,
};

/* What a task asked for; it is on that task's stack, which waits until `done`. */
struct request {
    struct list link;
    const struct vm_change *change;
    char *disk; /* lower case; NULL for a repair */
    bool done;
    struct err *err;
};

struct vm {
    char *key; /* the id in lower case */
    char *id;  /* as it was first given */
    struct vms *vms;
    struct list pending; /* requests that no change carries yet */
    bool working;        /* its task runs */
    struct waiters finished;

    struct cloud_instance model;
    bool known;        /* the model was read, and nothing has happened since that it may lack */
    uint64_t known_at; /* when */
    bool reading;
    struct waiters read;
    UT_hash_handle hh; /* by the key */
};

/* A disk that a change under way concerns. */
struct busy_disk {
    char *disk;
    UT_hash_handle hh;
};

struct vms {
    struct task_group *group;
    struct loop *loop;
    struct arm_client *arm;
    struct skus *skus;
    struct vm *vms;
    struct busy_disk *busy;
    struct waiters disk_freed;
};

struct vms *vms_new(struct task_group *group, struct arm_client *arm, struct skus *skus)
{
    struct vms *vms = mem_alloc(sizeof *vms);

    *vms = (struct vms){.group = group, .loop = group->loop, .arm = arm, .skus = skus};
    waiters_init(&vms->disk_freed);
    return vms;
}

void vms_free(struct vms *vms)
{
    if (!vms)
        return;
    HASH_FOREACH(vms->vms, vm) {
        HASH_DEL(vms->vms, vm);
        cloud_instance_fini(&vm->model);
        free(vm->key);
        free(vm->id);
        free(vm);
    }
    free(vms);
}

static struct vm *find_or_make(struct vms *vms, const char *id)
{
    CLEANUP(freep) char *key = mem_lower(id);
    struct vm *vm;

    HASH_FIND_STR(vms->vms, key, vm);
    if (vm)
        return vm;
    vm = mem_alloc(sizeof *vm);
    *vm = (struct vm){.key = TAKE_PTR(key), .id = mem_strdup(id), .vms = vms};
    list_init(&vm->pending);
    waiters_init(&vm->finished);
    waiters_init(&vm->read);
    HASH_ADD_KEYPTR(hh, vms->vms, vm->key, strlen(vm->key), vm);
    return vm;
}

/* ---- the model ---- */

/* One reader serves all who wait. A change that ends while the model is read makes the answer
 * old. */
static struct err *read_model(struct task *self, struct vm *vm)
{
    struct vms *vms = vm->vms;
    struct cloud_instance model;
    uint64_t began = loop_now(vms->loop);

    vm->reading = true;
    vm->known = true;
    struct err *err = vm_model_read(self, vms->arm, vms->skus, vm->id, &model);
    vm->reading = false;
    if (err) {
        vm->known = false;
    } else {
        cloud_instance_fini(&vm->model);
        vm->model = model;
        vm->known_at = began;
    }
    waiters_wake(&vm->read);
    return err;
}

/* A model that somebody is changing is soon another. */
static bool is_fresh(const struct vm *vm, uint64_t max_age_ms)
{
    bool settled = vm->model.state == CLOUD_INSTANCE_SETTLED;
    uint64_t limit = settled || max_age_ms < CHANGING_AGE_MS ? max_age_ms : CHANGING_AGE_MS;

    return vm->known && vm->model.id && loop_now(vm->vms->loop) - vm->known_at <= limit;
}

static struct err *fresh_model(struct task *self, struct vm *vm, uint64_t max_age_ms)
{
    while (vm->reading || !is_fresh(vm, max_age_ms)) {
        if (vm->reading)
            TRY(wait_for_change(self, &vm->read, TIMER_NEVER));
        else
            return read_model(self, vm);
    }
    return NULL;
}

struct err *vm_get(struct task *self, struct vms *vms, const char *id, uint64_t max_age_ms,
                   struct cloud_instance *ret)
{
    struct vm *vm = find_or_make(vms, id);

    TRY(fresh_model(self, vm, max_age_ms));
    vm_model_copy(&vm->model, ret);
    return NULL;
}

/* ---- one change on its way ---- */

static json_t *change_json(struct request *const *batch, size_t n)
{
    json_t *attach = json_array(), *detach = json_array();

    for (size_t i = 0; i < n; i++) {
        const struct vm_change *change = batch[i]->change;

        if (change->kind == VM_ATTACH)
            json_array_append_new(attach, json_pack("{s:s, s:i, s:s}", "diskId", change->disk_id,
                                                    "lun", change->lun, "caching",
                                                    caching_mode_name(change->caching)));
        else
            json_array_append_new(detach, json_pack("{s:s}", "diskId", change->disk_id));
    }
    return json_pack("{s:o, s:o}", "dataDisksToAttach", attach, "dataDisksToDetach", detach);
}

static struct err *send(struct task *self, struct vm *vm, struct request *const *batch, size_t n)
{
    bool repair = batch[0]->change->kind == VM_REPAIR;
    CLEANUP(json_decrefp) json_t *body = repair ? json_object() : change_json(batch, n);
    CLEANUP(freep)
    char *path = repair ? mem_strdup(vm->id) : mem_printf("%s/attachDetachDataDisks", vm->id);
    CLEANUP(arm_operation_fini) struct arm_operation operation = {0};

    vm->known = false;
    struct err *err = arm_client_request(self, vm->vms->arm, repair ? "PATCH" : "POST", path,
                                         VM_API_VERSION, body, NULL, &operation);
    if (!err)
        err = arm_operation_wait(self, vm->vms->arm, &operation);
    vm->known = false; /* whatever was read meanwhile may be from before */
    return err;
}

/* What the model says of a request that Azure says is done. */
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

static void answer(struct request *request, struct err *err)
{
    request->err = err;
    request->done = true;
}

/* Errors are owned by one request each. */
static struct err *copy_of(const struct err *err)
{
    struct err *copy = err_kind(err) == ERR_THROTTLED
                           ? err_throttled(err_retry_after_ms(err), "%s", err_message(err))
                           : err_new(err_kind(err), "%s", err_message(err));

    return err_code(err) ? err_with_code(copy, err_code(err)) : copy;
}

/* Would the same request fail again, because of one of its disks? */
static bool is_refusal(const struct err *err)
{
    switch (err_kind(err)) {
    case ERR_CANCELED:
    case ERR_TIMEOUT:
    case ERR_UNAVAILABLE:
    case ERR_THROTTLED:
    case ERR_DENIED:
        return false;
    default:
        return true;
    }
}

static void carry_out(struct task *self, struct vm *vm, struct request *const *batch, size_t n)
{
    CLEANUP(err_freep) struct err *err = send(self, vm, batch, n);

    if (err && n > 1 && is_refusal(err)) {
        carry_out(self, vm, batch, n / 2);
        carry_out(self, vm, batch + n / 2, n - n / 2);
        return;
    }
    if (!err)
        err = fresh_model(self, vm, UINT64_MAX);
    for (size_t i = 0; i < n; i++)
        answer(batch[i], err ? copy_of(err) : verify(vm, batch[i]->change));
}

/* ---- the queue of a VM ---- */

static bool is_busy(const struct vms *vms, const char *disk)
{
    struct busy_disk *busy;

    HASH_FIND_STR(vms->busy, disk, busy);
    return busy != NULL;
}

static void occupy(struct vms *vms, const char *disk)
{
    struct busy_disk *busy = mem_alloc(sizeof *busy);

    busy->disk = mem_strdup(disk);
    HASH_ADD_KEYPTR(hh, vms->busy, busy->disk, strlen(busy->disk), busy);
}

static void release(struct vms *vms, const char *disk)
{
    struct busy_disk *busy;

    HASH_FIND_STR(vms->busy, disk, busy);
    HASH_DEL(vms->busy, busy);
    free(busy->disk);
    free(busy);
    waiters_wake(&vms->disk_freed);
}

/* What can go out now: everything whose disk no other VM's change concerns. A repair goes alone. */
static size_t take_batch(struct vm *vm, struct request **batch)
{
    size_t n = 0;

    LIST_FOREACH(&vm->pending, link) {
        struct request *request = CONTAINER_OF(link, struct request, link);
        bool repair = request->change->kind == VM_REPAIR;

        if (n == MAX_BATCH || (repair && n > 0))
            break;
        if (request->disk && is_busy(vm->vms, request->disk))
            continue;
        list_remove(&request->link);
        if (request->disk)
            occupy(vm->vms, request->disk);
        batch[n++] = request;
        if (repair)
            break;
    }
    return n;
}

static void refuse_pending(struct vm *vm)
{
    struct list *link;

    while ((link = list_take_first(&vm->pending)))
        answer(CONTAINER_OF(link, struct request, link),
               err_new(ERR_CANCELED, "the process is ending"));
    waiters_wake(&vm->finished);
}

static void work(struct task *self, void *arg)
{
    struct vm *vm = arg;
    struct request *batch[MAX_BATCH];

    while (!list_is_empty(&vm->pending) && !task_is_cancelled(self)) {
        size_t n = take_batch(vm, batch);

        if (n == 0) {
            err_free(wait_for_change(self, &vm->vms->disk_freed, TIMER_NEVER));
            continue;
        }
        carry_out(self, vm, batch, n);
        for (size_t i = 0; i < n; i++)
            if (batch[i]->disk)
                release(vm->vms, batch[i]->disk);
        waiters_wake(&vm->finished);
    }
    refuse_pending(vm);
    vm->working = false;
}

struct err *vm_change(struct task *self, struct vms *vms, const char *id,
                      const struct vm_change *change)
{
    struct vm *vm = find_or_make(vms, id);
    CLEANUP(freep) char *disk = mem_lower(change->disk_id);
    struct request request = {.change = change, .disk = disk};

    list_append(&vm->pending, &request.link);
    if (!vm->working) {
        vm->working = group_spawn(vms->group, "vm changes", work, vm);
        if (!vm->working)
            refuse_pending(vm);
    }
    while (!request.done)
        wait_through(self, &vm->finished);
    return request.err;
}
