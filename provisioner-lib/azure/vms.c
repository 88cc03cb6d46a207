#include "provisioner-lib/azure/vms.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/azure/vm.h"
#include "provisioner-lib/azure/vm_model.h"

enum {
    CHANGING_AGE_MS = 1000,
    /* A kernel takes a while to drop the device of a disk that has left; a disk that comes to the
     * same LUN meanwhile could be taken for the old one, and wait until that is gone. */
    REST_MS = 60 * 1000,
    /* Of a node's VM the limit is looked at every ten minutes. */
    UNUSED_MS = 30 * 60 * 1000,
    SWEEP_MS = 10 * 60 * 1000,
};

struct vms *vms_new(struct task_group *group, struct arm_client *arm, struct skus *skus)
{
    struct vms *vms = mem_alloc(sizeof *vms);

    *vms = (struct vms){
        .group = group,
        .loop = group->loop,
        .arm = arm,
        .skus = skus,
        .way = arm_client_config(arm)->azure_stack ? VM_UPDATE_BY_SHORT_LIST : VM_UPDATE_BY_ACTION,
    };
    waiters_init(&vms->changed);
    return vms;
}

static void drop(struct vm *vm)
{
    HASH_DEL(vm->vms->vms, vm);
    cloud_instance_fini(&vm->model);
    free(vm->key);
    free(vm->id);
    free(vm);
}

void vms_free(struct vms *vms)
{
    if (!vms)
        return;
    HASH_FOREACH(vms->vms, vm)
        drop(vm);
    free(vms);
}

/* ---- which are kept ---- */

static struct vm *find(const struct vms *vms, const char *id)
{
    CLEANUP(freep) char *key = mem_lower(id);
    struct vm *vm;

    HASH_FIND_STR(vms->vms, key, vm);
    return vm;
}

static struct vm *add(struct vms *vms, const char *id)
{
    struct vm *vm = mem_alloc(sizeof *vm);

    *vm = (struct vm){.key = mem_lower(id), .id = mem_strdup(id), .vms = vms};
    list_init(&vm->pending);
    list_init(&vm->busy);
    waiters_init(&vm->finished);
    waiters_init(&vm->read);
    HASH_ADD_KEYPTR(hh, vms->vms, vm->key, strlen(vm->key), vm);
    return vm;
}

static bool is_idle(const struct vm *vm)
{
    return !vm->users && !vm->working && !vm->expected;
}

void vm_forget_if_gone(struct vm *vm)
{
    if (vm->gone && is_idle(vm))
        drop(vm);
}

static void sweep(struct vms *vms)
{
    uint64_t now = loop_now(vms->loop);

    if (now - vms->swept < SWEEP_MS)
        return;
    vms->swept = now;
    HASH_FOREACH(vms->vms, vm) {
        if (is_idle(vm) && now - vm->used_at >= UNUSED_MS)
            drop(vm);
    }
}

struct vm *vm_enter(struct vms *vms, const char *id)
{
    struct vm *vm;

    sweep(vms);
    vm = find(vms, id);
    vm = vm ? vm : add(vms, id);
    vm->users++;
    return vm;
}

void vm_leave(struct vm *vm)
{
    vm->users--;
    vm->used_at = loop_now(vm->vms->loop);
    vm_forget_if_gone(vm);
}

/* ---- the model ---- */

static uint64_t luns_of(const struct cloud_instance *model)
{
    uint64_t luns = 0;

    for (size_t i = 0; i < model->n_slots; i++)
        if (model->slots[i].lun >= 0 && model->slots[i].lun < VM_LUNS)
            luns |= UINT64_C(1) << model->slots[i].lun;
    return luns;
}

static void take_model(struct vm *vm, struct cloud_instance *model, uint64_t read_at)
{
    uint64_t freed = luns_of(&vm->model) & ~luns_of(model);

    for (int lun = 0; lun < VM_LUNS; lun++)
        if (freed >> lun & 1)
            vm->freed_at[lun] = loop_now(vm->vms->loop);
    vm->freed |= freed;
    cloud_instance_fini(&vm->model);
    vm->model = *model;
    vm->known_at = read_at;
}

static uint64_t resting_luns(const struct vm *vm)
{
    uint64_t resting = 0, now = loop_now(vm->vms->loop);

    for (int lun = 0; lun < VM_LUNS; lun++)
        if (vm->freed >> lun & 1 && now - vm->freed_at[lun] < REST_MS)
            resting |= UINT64_C(1) << lun;
    return resting;
}

/* One reader serves all who wait. A change that ends while the model is read makes the answer
 * old. */
static struct err *read_model(struct task *self, struct vm *vm, enum cloud_urgency urgency)
{
    struct vms *vms = vm->vms;
    struct arm_request request = vm_model_request(vm->id, urgency);
    struct cloud_instance model;
    uint64_t began = loop_now(vms->loop);

    vm->reading = &request;
    vm->known = true;
    struct err *err = vm_model_read(self, vms->arm, vms->skus, &request, &model);
    vm->reading = NULL;
    vm->gone = err && err_kind(err) == ERR_NOT_FOUND;
    if (err)
        vm->known = false;
    else
        take_model(vm, &model, began);
    waiters_wake(&vm->read);
    return err;
}

/* A model that somebody is changing is soon another; but looks must not run out while many ask. */
static uint64_t changing_age(const struct vm *vm)
{
    const struct arm_request read = vm_model_request(vm->id, CLOUD_FOR_PRIMARY);
    uint64_t pace = arm_client_pace(vm->vms->arm, &read);

    return pace > CHANGING_AGE_MS ? pace : CHANGING_AGE_MS;
}

/* For who asked then: the reader that all wait for may have begun a moment earlier. */
static bool is_fresh(const struct vm *vm, uint64_t asked_at, uint64_t max_age_ms)
{
    uint64_t limit = max_age_ms;

    if (vm->model.state != CLOUD_INSTANCE_SETTLED && changing_age(vm) < max_age_ms)
        limit = changing_age(vm);
    return vm->known && vm->model.id && (limit >= asked_at || vm->known_at >= asked_at - limit);
}

void vm_forget(struct vms *vms, const char *id)
{
    struct vm *vm = find(vms, id);

    if (!vm)
        return;
    vm->known = false;
    cloud_instance_fini(&vm->model);
}

void vm_hurry(struct vm *vm, enum cloud_urgency urgency)
{
    if (vm->reading)
        arm_client_hurry(vm->vms->arm, vm->reading, urgency);
    if (vm->turn)
        arm_client_hurry(vm->vms->arm, vm->turn, urgency);
}

struct err *vm_refresh(struct task *self, struct vm *vm, uint64_t max_age_ms,
                       enum cloud_urgency urgency)
{
    uint64_t asked_at = loop_now(vm->vms->loop);

    while (vm->reading || !is_fresh(vm, asked_at, max_age_ms)) {
        if (vm->reading) {
            arm_client_hurry(vm->vms->arm, vm->reading, urgency);
            TRY(wait_for_change(self, &vm->read, TIMER_NEVER));
            continue;
        }
        TRY(read_model(self, vm, urgency));
        if (vm->known)
            return NULL;
    }
    return NULL;
}

struct err *vm_get(struct task *self, struct vms *vms, const char *id, uint64_t max_age_ms,
                   enum cloud_urgency urgency, struct cloud_instance *ret)
{
    struct vm *vm = vm_enter(vms, id);
    struct err *err = vm_refresh(self, vm, max_age_ms, urgency);

    if (!err) {
        vm_model_copy(&vm->model, ret);
        ret->resting_luns = resting_luns(vm);
    }
    vm_leave(vm);
    return err;
}
