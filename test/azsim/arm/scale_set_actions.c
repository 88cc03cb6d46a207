/* What clients do to a scale set, and to many of its instances at once. */
#include "test/azsim/arm/handlers.h"

static void answer_accepted(struct exchange *exchange, struct refusal *refusal,
                            const struct operation *operation)
{
    if (refusal) {
        answer_refusal(exchange, refusal);
        return;
    }
    operation_headers(exchange, operation, true);
    answer(exchange, 202, NULL);
}

/* ---- the model ---- */

void scale_sets_patch(struct exchange *exchange)
{
    struct scale_set *set = scale_set_of_path(exchange);
    struct operation *operation;
    json_t *body;

    if (!set || !exchange_body(exchange, &body))
        return;
    struct refusal *refusal = scale_set_patch(set, body, &operation);
    json_decref(body);
    if (refusal) {
        answer_refusal(exchange, refusal);
        return;
    }
    operation_headers(exchange, operation, false);
    answer(exchange, 200, scale_set_json(set));
}

/* Of one that is not there: it would need cores. */
void scale_sets_put(struct exchange *exchange)
{
    if (scale_set_find_of_path(exchange))
        scale_sets_patch(exchange);
    else
        answer_refusal(exchange, refuse(QUOTA_EXCEEDED, "Total Regional Cores",
                                        exchange->model->location, 0LL, 0LL));
}

void scale_sets_delete(struct exchange *exchange)
{
    struct scale_set *set = scale_set_find_of_path(exchange);

    if (set)
        answer_accepted(exchange, NULL, scale_set_delete(set));
    else
        answer(exchange, 204, NULL);
}

/* ---- instances ---- */

/* The body, which may be left out, is {"instanceIds": ["0", "1"]}. */
static void act(struct exchange *exchange, enum operation_kind kind)
{
    struct scale_set *set = scale_set_of_path(exchange);
    struct operation *operation;
    json_t *body = NULL;

    if (!set || (exchange->call->body_length > 0 && !exchange_body(exchange, &body)))
        return;
    struct refusal *refusal =
        scale_set_act(set, kind, json_object_get(body, "instanceIds"), &operation);
    json_decref(body);
    answer_accepted(exchange, refusal, operation);
}

void scale_sets_start(struct exchange *exchange)
{
    act(exchange, OPERATION_VM_START);
}

void scale_sets_power_off(struct exchange *exchange)
{
    act(exchange, OPERATION_VM_POWER_OFF);
}

void scale_sets_deallocate(struct exchange *exchange)
{
    act(exchange, deallocation_asked_for(exchange));
}

void scale_sets_reapply(struct exchange *exchange)
{
    act(exchange, OPERATION_VM_REAPPLY);
}

void scale_sets_delete_instances(struct exchange *exchange)
{
    act(exchange, OPERATION_VM_DELETE);
}

void scale_sets_perform_maintenance(struct exchange *exchange)
{
    const struct scale_set *set = scale_set_of_path(exchange);

    if (!set)
        return;
    HASH_FOREACH(exchange->model->vms, vm) {
        if (vm->scale_set == set) {
            answer_refusal(exchange, refuse(NOT_ELIGIBLE, "performMaintenance", vm->name));
            return;
        }
    }
    answer_refusal(exchange, refuse(NOT_ELIGIBLE, "performMaintenance", set->name));
}

/* ---- what our scale sets have not ---- */

/* Upgrades, which they leave to people, and services that watch their instances. */
void scale_sets_not_set_up(struct exchange *exchange)
{
    const struct scale_set *set = scale_set_of_path(exchange);

    if (set)
        answer_refusal(exchange,
                       refuse(SCALE_SET_NOT_SET_UP,
                              exchange->match.parts[exchange->match.n_parts - 1], set->name));
}

/* It is in one placement group already. */
void scale_sets_convert_to_single_placement_group(struct exchange *exchange)
{
    if (scale_set_of_path(exchange))
        answer(exchange, 200, NULL);
}

void scale_sets_scale_out(struct exchange *exchange)
{
    if (scale_set_of_path(exchange))
        answer_refusal(exchange, refuse(QUOTA_EXCEEDED, "Total Regional Cores",
                                        exchange->model->location, 0LL, 0LL));
}
