/* How scale sets change: their model, and many of their instances at once. */
#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/scale_set.h"
#include "test/azsim/model/vm.h"

/* Members that Azure sets, whatever a client sends. */
static const char *const read_only[] = {"id",
                                        "name",
                                        "type",
                                        "location",
                                        "zones",
                                        "etag",
                                        "sku",
                                        "properties.provisioningState",
                                        "properties.uniqueId",
                                        "properties.timeCreated",
                                        "properties.orchestrationMode",
                                        NULL};

static struct refusal *check_alive(const struct scale_set *set, const char *what)
{
    return set->is_deleting ? refuse(SCALE_SET_BEING_DELETED, what, set->name) : NULL;
}

/* A newer operation of the set ends the older one. */
static struct operation *begin(struct scale_set *set, enum operation_kind kind, uint64_t ms)
{
    struct model *model = set->model;
    struct operation *running = TAKE_PTR(set->operation);

    if (running)
        operation_end(running, refuse(OPERATION_PREEMPTED));
    set->operation = operation_start(model, kind, set->key, ms);
    model_changed_scale_set(model, set);
    model_commit(model);
    return set->operation;
}

/* ---- the model ---- */

/* The newest of its VMs that stays; NULL if none is left. */
static struct vm *newest(const struct scale_set *set)
{
    struct vm *found = NULL;

    HASH_FOREACH(set->model->vms, vm) {
        if (vm->scale_set == set && vm->provisioning != PROVISIONING_DELETING &&
            (!found || vm->sequence > found->sequence))
            found = vm;
    }
    return found;
}

/* VMs come from the configuration: there are no cores for more. */
static struct refusal *check_capacity(const struct scale_set *set, const json_t *change)
{
    const json_t *wanted = resource_get(change, "sku.capacity");

    if (!wanted || json_integer_value(wanted) <= set->capacity)
        return NULL;
    return refuse(QUOTA_EXCEEDED, "Total Regional Cores", set->model->location, 0LL, 0LL);
}

static void shrink(struct scale_set *set, const json_t *change)
{
    const json_t *wanted = resource_get(change, "sku.capacity");
    json_int_t left = wanted ? json_integer_value(wanted) : (json_int_t)set->capacity;

    for (json_int_t surplus = (json_int_t)set->capacity - left; surplus > 0; surplus--) {
        struct vm *vm = newest(set);

        if (vm)
            vm_delete(vm);
    }
}

struct refusal *scale_set_patch(struct scale_set *set, const json_t *change, struct operation **ret)
{
    struct model *model = set->model;

    REQUIRE(check_alive(set, "update"));
    REQUIRE(check_capacity(set, change));
    json_t *rest = json_deep_copy(change);
    resource_strip(rest, read_only);
    resource_merge(set->body, rest);
    json_decref(rest);
    shrink(set, change);
    set->is_updating = true;
    set->etag++;
    *ret = begin(set, OPERATION_SCALE_SET_UPDATE, model_draw(model, LATENCY_UPDATE));
    return NULL;
}

/* ---- instances ---- */

static bool is_listed(const struct vm *vm, const json_t *ids)
{
    size_t i;
    json_t *id;

    if (!json_is_array(ids))
        return true;
    json_array_foreach(ids, i, id)
        if (json_is_string(id) && (strcmp(json_string_value(id), "*") == 0 ||
                                   strcmp(json_string_value(id), vm->spec.instance_id) == 0))
            return true;
    return false;
}

static bool has_instance(const struct scale_set *set, const char *id)
{
    HASH_FOREACH(set->model->vms, vm) {
        if (vm->scale_set == set && strcmp(vm->spec.instance_id, id) == 0)
            return true;
    }
    return strcmp(id, "*") == 0;
}

static struct refusal *check_ids(const struct scale_set *set, const json_t *ids)
{
    size_t i;
    json_t *id;

    json_array_foreach(ids, i, id)
        if (!json_is_string(id) || !has_instance(set, json_string_value(id)))
            return refuse(INSTANCE_NOT_ACTIVE, json_is_string(id) ? json_string_value(id) : "");
    return NULL;
}

static struct refusal *act_one(struct vm *vm, enum operation_kind kind, struct operation **ret)
{
    if (kind != OPERATION_VM_DELETE)
        return vm_act(vm, kind, ret);
    *ret = vm_delete(vm);
    return NULL;
}

/* How long until an operation is to end. */
static uint64_t rest_ms(const struct operation *operation)
{
    int64_t us = operation->end_us - model_now_us(operation->model);

    return us > 0 ? (uint64_t)us / 1000 : 0;
}

struct refusal *scale_set_act(struct scale_set *set, enum operation_kind kind, const json_t *ids,
                              struct operation **ret)
{
    uint64_t longest_ms = 0;

    REQUIRE(check_alive(set, operation_kind_name(kind)));
    if (!set->uniform)
        return refuse(SCALE_SET_IS_FLEXIBLE, set->name);
    REQUIRE(check_ids(set, ids));
    HASH_FOREACH(set->model->vms, vm) {
        struct operation *operation;

        if (vm->scale_set != set || !is_listed(vm, ids))
            continue;
        REQUIRE(act_one(vm, kind, &operation));
        if (rest_ms(operation) > longest_ms)
            longest_ms = rest_ms(operation);
    }
    *ret = begin(set, OPERATION_SCALE_SET_ACT, longest_ms);
    return NULL;
}

struct operation *scale_set_delete(struct scale_set *set)
{
    struct model *model = set->model;
    uint64_t longest_ms = model_draw(model, LATENCY_DELETE);

    if (set->is_deleting && set->operation)
        return set->operation;
    set->is_deleting = true;
    HASH_FOREACH(model->vms, vm) {
        if (vm->scale_set == set && rest_ms(vm_delete(vm)) > longest_ms)
            longest_ms = rest_ms(vm->operation);
    }
    return begin(set, OPERATION_SCALE_SET_DELETE, longest_ms);
}

/* ---- ends of operations ---- */

/* What of its VMs a fault has kept so far goes with it. */
static void scale_set_remove(struct scale_set *set)
{
    struct model *model = set->model;

    HASH_FOREACH(model->vms, vm) {
        if (vm->scale_set != set)
            continue;
        if (vm->operation)
            operation_end(vm->operation, refuse(OPERATION_PREEMPTED));
        vm_remove(vm);
    }
    model_gone(model, "scaleSets", set->key);
    scale_set_free(set);
}

struct refusal *scale_set_operation_due(struct operation *operation)
{
    struct scale_set *set = scale_set_find(operation->model, operation->target);

    if (operation->kind == OPERATION_SCALE_SET_DELETE)
        scale_set_remove(set);
    return NULL;
}

void scale_set_operation_ended(struct operation *operation)
{
    struct scale_set *set = scale_set_find(operation->model, operation->target);

    if (!set || set->operation != operation)
        return; /* gone, or a newer operation goes on */
    set->operation = NULL;
    set->is_updating = set->is_deleting = false;
    model_changed_scale_set(set->model, set);
}
