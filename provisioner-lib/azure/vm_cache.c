#include "provisioner-lib/azure/vm_cache.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
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
    /* Microsoft's driver waits for nobody's change; but to end one may be no favour. */
    OTHERS_MOST_MS = 10 * 60 * 1000,
    OTHERS_GAP_MS = 6 * 60 * 1000, /* between looks; after a longer one it may be another change */
};

struct vm_cache *vm_cache_new(struct task_group *group, struct arm_client *arm, struct skus *skus)
{
    struct vm_cache *cache = mem_alloc(sizeof *cache);

    *cache = (struct vm_cache){
        .group = group,
        .loop = group->loop,
        .arm = arm,
        .skus = skus,
        .way = arm_client_config(arm)->azure_stack ? VM_UPDATE_BY_SHORT_LIST : VM_UPDATE_BY_ACTION,
    };
    waiters_init(&cache->changed);
    return cache;
}

static void drop(struct vm *vm)
{
    HASH_DEL(vm->cache->vms, vm);
    cloud_instance_fini(&vm->model);
    free(vm->key);
    free(vm->id);
    free(vm);
}

void vm_cache_free(struct vm_cache *cache)
{
    if (!cache)
        return;
    HASH_FOREACH(cache->vms, vm)
        drop(vm);
    free(cache);
}

/* ---- which are kept ---- */

static struct vm *find(const struct vm_cache *cache, const char *id)
{
    CLEANUP(freep) char *key = mem_lower(id);
    struct vm *vm;

    HASH_FIND_STR(cache->vms, key, vm);
    return vm;
}

static struct vm *add(struct vm_cache *cache, const char *id)
{
    struct vm *vm = mem_alloc(sizeof *vm);

    *vm = (struct vm){.key = mem_lower(id), .id = mem_strdup(id), .cache = cache};
    list_init(&vm->pending);
    list_init(&vm->holds);
    waiters_init(&vm->finished);
    waiters_init(&vm->read);
    HASH_ADD_KEYPTR(hh, cache->vms, vm->key, strlen(vm->key), vm);
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

static void sweep(struct vm_cache *cache)
{
    uint64_t now = loop_now(cache->loop);

    if (now - cache->swept < SWEEP_MS)
        return;
    cache->swept = now;
    HASH_FOREACH(cache->vms, vm) {
        if (is_idle(vm) && now - vm->used_at >= UNUSED_MS)
            drop(vm);
    }
}

struct vm *vm_enter(struct vm_cache *cache, const char *id)
{
    struct vm *vm;

    sweep(cache);
    vm = find(cache, id);
    vm = vm ? vm : add(cache, id);
    vm->users++;
    return vm;
}

void vm_leave(struct vm *vm)
{
    vm->users--;
    vm->used_at = loop_now(vm->cache->loop);
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

void vm_give_up(struct vm *vm)
{
    vm->outlasted = true;
    log_warning("%s: its last change does not end in Azure; the next one will take its place",
                vm->id);
}

void vm_note_free(struct vm *vm)
{
    vm->outlasted = false;
    vm->busy_since = 0;
}

/* What others do may take longer than what we do. A former leader's change is another one's, too.
 */
static bool others_overrun(struct vm *vm, uint64_t last_known)
{
    uint64_t now = loop_now(vm->cache->loop);

    if (vm->under_way)
        vm->busy_since = 0;
    else if (!vm->busy_since || now > last_known + OTHERS_GAP_MS)
        vm->busy_since = now;
    return vm->busy_since && now >= vm->busy_since + OTHERS_MOST_MS;
}

/* What is not waited for any longer is to be repaired. */
static void note_state(struct vm *vm, uint64_t last_known)
{
    if (vm->model.state != CLOUD_INSTANCE_CHANGING) {
        vm_note_free(vm);
        return;
    }
    if (!vm->outlasted && others_overrun(vm, last_known))
        vm_give_up(vm);
    if (vm->outlasted)
        vm->model.state = CLOUD_INSTANCE_FAILED;
}

static void take_model(struct vm *vm, struct cloud_instance *model, uint64_t read_at)
{
    uint64_t freed = luns_of(&vm->model) & ~luns_of(model);

    for (int lun = 0; lun < VM_LUNS; lun++)
        if (freed >> lun & 1)
            vm->freed_at[lun] = loop_now(vm->cache->loop);
    vm->freed |= freed;
    cloud_instance_fini(&vm->model);
    vm->model = *model;
    note_state(vm, vm->known_at);
    vm->known_at = read_at;
}

static uint64_t cooling_luns(const struct vm *vm)
{
    uint64_t cooling = 0, now = loop_now(vm->cache->loop);

    for (int lun = 0; lun < VM_LUNS; lun++)
        if (vm->freed >> lun & 1 && now - vm->freed_at[lun] < REST_MS)
            cooling |= UINT64_C(1) << lun;
    return cooling;
}

void vm_outdate(struct vm *vm)
{
    vm->known = false;
    vm->overtaken = true;
}

/* Of a VM that has failed the model does not tell which of its disks are attached. Without an
 * answer none counts as attached. */
static void read_view(struct task *self, struct vm *vm, struct arm_request *request, uint64_t began)
{
    CLEANUP(freep) char *path = vm_model_path_with_view(vm->id);
    const char *plain = request->path;
    struct cloud_instance model;

    request->path = path;
    struct err *err = vm_model_read(self, vm->cache->arm, vm->cache->skus, request, &model);
    request->path = plain;
    if (!err)
        take_model(vm, &model, began);
    err_free(err);
}

/* One reader serves all who wait. A change that ends while the model is read makes the answer
 * old. */
static struct err *read_model(struct task *self, struct vm *vm, enum cloud_urgency urgency)
{
    struct vm_cache *cache = vm->cache;
    struct arm_request request = vm_model_request(vm->id, urgency);
    struct cloud_instance model;
    uint64_t began = loop_now(cache->loop);

    vm->reading = &request;
    vm->overtaken = false;
    struct err *err = vm_model_read(self, cache->arm, cache->skus, &request, &model);
    vm->gone = err && err_kind(err) == ERR_NOT_FOUND;
    if (!err)
        take_model(vm, &model, began);
    if (!err && vm->model.state == CLOUD_INSTANCE_FAILED)
        read_view(self, vm, &request, began);
    vm->reading = NULL;
    vm->known = !err && !vm->overtaken;
    waiters_wake(&vm->read);
    return err;
}

/* A model that somebody is changing is soon another; but looks must not run out while many ask. */
static uint64_t changing_age(const struct vm *vm)
{
    const struct arm_request read = vm_model_request(vm->id, CLOUD_FOR_PRIMARY);
    uint64_t pace = arm_client_pace(vm->cache->arm, &read);

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

void vm_forget(struct vm_cache *cache, const char *id)
{
    struct vm *vm = find(cache, id);

    if (!vm)
        return;
    vm_outdate(vm);
    cloud_instance_fini(&vm->model);
}

void vm_hurry(struct vm *vm, enum cloud_urgency urgency)
{
    if (vm->reading)
        arm_client_hurry(vm->cache->arm, vm->reading, urgency);
    if (vm->turn)
        arm_client_hurry(vm->cache->arm, vm->turn, urgency);
}

struct err *vm_refresh(struct task *self, struct vm *vm, uint64_t max_age_ms,
                       enum cloud_urgency urgency)
{
    uint64_t asked_at = loop_now(vm->cache->loop);

    while (vm->reading || !is_fresh(vm, asked_at, max_age_ms)) {
        if (vm->reading) {
            arm_client_hurry(vm->cache->arm, vm->reading, urgency);
            TRY(wait_for_change(self, &vm->read, TIMER_NEVER));
            continue;
        }
        TRY(read_model(self, vm, urgency));
        if (vm->known)
            return NULL;
    }
    return NULL;
}

struct err *vm_get(struct task *self, struct vm_cache *cache, const char *id, uint64_t max_age_ms,
                   enum cloud_urgency urgency, struct cloud_instance *ret)
{
    struct vm *vm = vm_enter(cache, id);
    struct err *err = vm_refresh(self, vm, max_age_ms, urgency);

    if (!err) {
        *ret = cloud_instance_share(&vm->model);
        ret->cooling_luns = cooling_luns(vm);
    }
    vm_leave(vm);
    return err;
}
