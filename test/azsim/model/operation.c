#include "test/azsim/model/operation.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/disk.h"
#include "test/azsim/model/fault_code.h"
#include "test/azsim/model/fault_site.h"
#include "test/azsim/model/group.h"
#include "test/azsim/model/scale_set.h"
#include "test/azsim/model/snapshot.h"
#include "test/azsim/model/vm.h"

static const int64_t RETENTION_US = 24LL * 3600 * 1000000;

static const struct {
    const char *name;
    enum operation_owner owner;
} kinds[] = {
#define OPERATION_ROW(kind, name, owner) {name, owner},
    OPERATION_KINDS(OPERATION_ROW)
#undef OPERATION_ROW
};

static const struct {
    struct refusal *(*due)(struct operation *operation);
    void (*ended)(struct operation *operation);
} owners[] = {
    [OPERATION_OF_DISK] = {disk_operation_due, disk_operation_ended},
    [OPERATION_OF_SNAPSHOT] = {snapshot_operation_due, snapshot_operation_ended},
    [OPERATION_OF_VM] = {vm_operation_due, vm_operation_ended},
    [OPERATION_OF_SCALE_SET] = {scale_set_operation_due, scale_set_operation_ended},
    [OPERATION_OF_GROUP] = {group_operation_due, group_operation_ended},
};

static const char *const status_names[] = {
    [OPERATION_IN_PROGRESS] = "InProgress",
    [OPERATION_SUCCEEDED] = "Succeeded",
    [OPERATION_FAILED] = "Failed",
    [OPERATION_CANCELED] = "Canceled",
};

/* What was asked for takes effect now, unless a fault has it otherwise. */
static struct refusal *perform(struct operation *operation, const struct fault *fault)
{
    if (fault && fault->type == FAULT_FAIL_OPERATION)
        return fault_refusal(fault, fault_resource(operation->model, operation->target));
    if (fault && fault->type == FAULT_CANCEL_OPERATION)
        return refuse(409, "", NULL, " ");
    if (fault && fault->type == FAULT_HIDE_RESIZE && operation->kind == OPERATION_DISK_UPDATE)
        return NULL;
    struct refusal *refusal = owners[operation_owner(operation)].due(operation);
    if (!refusal && fault && fault->type == FAULT_FAIL_WHEN_DONE)
        return fault_refusal(fault, fault_resource(operation->model, operation->target));
    return refusal;
}

/* The state that a fault leaves behind on what the operation was about, if that is still there. */
static void leave(const struct operation *operation, const struct fault *fault)
{
    struct disk *disk = disk_find(operation->model, operation->target);
    struct snapshot *snapshot = snapshot_find(operation->model, operation->target);
    struct vm *vm = vm_find(operation->model, operation->target);
    enum provisioning *provisioning = disk       ? &disk->provisioning
                                      : snapshot ? &snapshot->provisioning
                                      : vm       ? &vm->provisioning
                                                 : NULL;
    uint64_t *until = disk       ? &disk->updating_until
                      : snapshot ? &snapshot->updating_until
                      : vm       ? &vm->updating_until
                                 : NULL;

    if (provisioning && fault->type == FAULT_END_FAILED)
        *provisioning = PROVISIONING_FAILED;
    if (until && fault->type == FAULT_STAY_UPDATING)
        *until = loop_deadline(operation->model->loop, fault->time_ms);
}

static void on_due(void *ctx)
{
    struct operation *operation = ctx;
    struct model *model = operation->model;
    const struct fault *fault =
        fault_of_operation(model, operation->kind, operation->target, FAULT_AT_END);

    operation_end(operation, perform(operation, fault));
    if (fault)
        leave(operation, fault);
    model_commit(model);
}

/* Makes room: what ended long ago, and the oldest of what is too much. */
static void drop_old(struct model *model)
{
    int64_t expired = model_now_us(model) - RETENTION_US;

    while (!list_is_empty(&model->ended_operations)) {
        struct operation *oldest =
            CONTAINER_OF(model->ended_operations.next, struct operation, by_end);

        if (model->n_ended_operations <= OPERATION_MAX_ENDED && oldest->end_us > expired)
            return;
        model_gone(model, "operations", oldest->id);
        operation_free(oldest);
    }
}

static void note_end(struct operation *operation)
{
    list_append(&operation->model->ended_operations, &operation->by_end);
    operation->model->n_ended_operations++;
}

struct operation *operation_restore(struct model *model, const char *id, enum operation_kind kind,
                                    enum operation_status status, const char *target,
                                    int64_t start_us, int64_t end_us, struct refusal *refusal)
{
    struct operation *operation = mem_alloc(sizeof *operation);
    int64_t rest_us = end_us - model_now_us(model);

    *operation = (struct operation){.model = model,
                                    .kind = kind,
                                    .status = status,
                                    .target = mem_strdup(target),
                                    .start_us = start_us,
                                    .end_us = end_us,
                                    .refusal = refusal};
    snprintf(operation->id, sizeof operation->id, "%s", id);
    HASH_ADD_STR(model->operations, id, operation);
    if (status == OPERATION_IN_PROGRESS)
        loop_start_timer(model->loop, &operation->timer,
                         loop_now(model->loop) + (rest_us > 0 ? (uint64_t)rest_us / 1000 : 0),
                         on_due, operation);
    else
        note_end(operation);
    return operation;
}

struct operation *operation_force(struct model *model, enum operation_kind kind, const char *target,
                                  uint64_t duration_ms)
{
    int64_t now = model_now_us(model);
    char id[UUID_SIZE];

    drop_old(model);
    random_uuid(loop_random(model->loop), id);
    struct operation *operation = operation_restore(model, id, kind, OPERATION_IN_PROGRESS, target,
                                                    now, now + (int64_t)duration_ms * 1000, NULL);
    model_changed_operation(model, operation);
    return operation;
}

struct operation *operation_start(struct model *model, enum operation_kind kind, const char *target,
                                  uint64_t duration_ms)
{
    const struct fault *fault = fault_of_operation(model, kind, target, FAULT_AT_START);
    struct operation *operation =
        operation_force(model, kind, target, duration_ms + (fault ? fault->time_ms : 0));

    if (fault && fault->type == FAULT_STICK) {
        operation->stuck_by = fault->id;
        loop_stop_timer(model->loop, &operation->timer);
    }
    return operation;
}

void operation_end(struct operation *operation, struct refusal *refusal)
{
    struct model *model = operation->model;

    loop_stop_timer(model->loop, &operation->timer);
    operation->status = !refusal         ? OPERATION_SUCCEEDED
                        : *refusal->code ? OPERATION_FAILED
                                         : OPERATION_CANCELED;
    operation->refusal = refusal;
    operation->end_us = model_now_us(model);
    note_end(operation);
    model_changed_operation(model, operation);
    owners[operation_owner(operation)].ended(operation);
}

void operations_release(struct model *model, unsigned rule)
{
    HASH_FOREACH(model->operations, operation) {
        if (operation->status != OPERATION_IN_PROGRESS || !operation->stuck_by ||
            (rule && operation->stuck_by != rule))
            continue;
        operation->stuck_by = 0;
        loop_start_timer(model->loop, &operation->timer, loop_now(model->loop), on_due, operation);
    }
}

void operation_free(struct operation *operation)
{
    loop_stop_timer(operation->model->loop, &operation->timer);
    HASH_DEL(operation->model->operations, operation);
    if (operation->status != OPERATION_IN_PROGRESS) {
        list_remove(&operation->by_end);
        operation->model->n_ended_operations--;
    }
    refusal_free(operation->refusal);
    free(operation->target);
    free(operation);
}

struct operation *operation_find(const struct model *model, const char *id)
{
    struct operation *operation;

    HASH_FIND_STR(model->operations, id, operation);
    return operation;
}

enum operation_owner operation_owner(const struct operation *operation)
{
    return kinds[operation->kind].owner;
}

bool operation_is_of(const struct operation *operation, const struct subscription *subscription)
{
    static const char before[] = "/subscriptions/";
    const char *id = operation->target + strlen(before);
    size_t length = strlen(subscription->id);

    return strncmp(operation->target, before, strlen(before)) == 0 &&
           strncasecmp(id, subscription->id, length) == 0 && id[length] == '/';
}

const char *operation_status_name(enum operation_status status)
{
    return status_names[status];
}

bool operation_status_from_name(const char *name, enum operation_status *ret)
{
    for (size_t i = 0; i < COUNT_OF(status_names); i++)
        if (strcmp(status_names[i], name) == 0) {
            *ret = (enum operation_status)i;
            return true;
        }
    return false;
}

const char *operation_kind_name(enum operation_kind kind)
{
    return kinds[kind].name;
}

bool operation_kind_from_name(const char *name, enum operation_kind *ret)
{
    for (size_t i = 0; i < OPERATION_KIND_COUNT; i++)
        if (strcmp(kinds[i].name, name) == 0) {
            *ret = (enum operation_kind)i;
            return true;
        }
    return false;
}
