#include "test/azsim/model/operation.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/disk.h"
#include "test/azsim/model/vm.h"

static const int64_t RETENTION_US = 24LL * 3600 * 1000000;

static const struct {
    const char *name;
    bool of_disk;
} kinds[] = {
#define OPERATION_ROW(kind, name, of_disk) {name, of_disk},
    OPERATION_KINDS(OPERATION_ROW)
#undef OPERATION_ROW
};

static const char *const status_names[] = {
    [OPERATION_IN_PROGRESS] = "InProgress",
    [OPERATION_SUCCEEDED] = "Succeeded",
    [OPERATION_FAILED] = "Failed",
};

/* What was asked for takes effect now. */
static void on_due(void *ctx)
{
    struct operation *operation = ctx;
    struct model *model = operation->model;

    operation_end(operation, kinds[operation->kind].of_disk ? disk_operation_due(operation)
                                                            : vm_operation_due(operation));
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

struct operation *operation_start(struct model *model, enum operation_kind kind, const char *target,
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

void operation_end(struct operation *operation, struct refusal *refusal)
{
    struct model *model = operation->model;

    loop_stop_timer(model->loop, &operation->timer);
    operation->status = refusal ? OPERATION_FAILED : OPERATION_SUCCEEDED;
    operation->refusal = refusal;
    operation->end_us = model_now_us(model);
    note_end(operation);
    model_changed_operation(model, operation);
    if (kinds[operation->kind].of_disk)
        disk_operation_ended(operation);
    else
        vm_operation_ended(operation);
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

bool operation_is_of_disk(const struct operation *operation)
{
    return kinds[operation->kind].of_disk;
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
