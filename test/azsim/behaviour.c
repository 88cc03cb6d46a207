#include "test/azsim/behaviour.h"

#include <stdlib.h>
#include <string.h>

#include "test/azsim/model/fault.h"
#include "test/azsim/model/operation.h"
#include "test/azsim/model/throttle.h"

/* ---- latencies ---- */

void behaviour_get_latency(struct visit *visit)
{
    visit_answer(visit, 200, latencies_json(&visit->model->latencies));
}

static struct err *change_latencies(const struct visit *visit)
{
    struct latencies changed = visit->model->latencies;
    CLEANUP(json_decrefp) json_t *json = NULL;
    const char *name;
    json_t *value;

    TRY(visit_body(visit, &json));
    json_object_foreach(json, name, value) {
        if (!json_is_string(value))
            return err_new(ERR_INVALID, "latency of %s: expected a string such as \"30s\"", name);
        TRY(latency_set(&changed, name, json_string_value(value)));
    }
    visit->model->latencies = changed;
    return NULL;
}

void behaviour_patch_latency(struct visit *visit)
{
    struct err *err = change_latencies(visit);

    if (err)
        visit_refuse(visit, 400, err);
    else
        behaviour_get_latency(visit);
}

/* ---- throttling and faults ---- */

void behaviour_get_throttling(struct visit *visit)
{
    visit_answer(visit, 200, throttle_json(visit->model->throttle, loop_now(visit->model->loop)));
}

static struct err *change_throttling(const struct visit *visit)
{
    CLEANUP(json_decrefp) json_t *json = NULL;

    TRY(visit_body(visit, &json));
    const char *text = json_string_value(json_object_get(json, "throttling"));
    return throttle_set(visit->model->throttle, text ? text : "");
}

void behaviour_patch_throttling(struct visit *visit)
{
    struct err *err = change_throttling(visit);

    if (err)
        visit_refuse(visit, 400, err);
    else
        behaviour_get_throttling(visit);
}

void behaviour_get_faults(struct visit *visit)
{
    visit_answer(visit, 200, faults_json(visit->model->faults));
}

static struct err *add_fault(const struct visit *visit, const struct fault **ret)
{
    CLEANUP(json_decrefp) json_t *json = NULL;

    TRY(visit_body(visit, &json));
    return faults_add(visit->model->faults, json, ret);
}

void behaviour_post_fault(struct visit *visit)
{
    const struct fault *fault;
    struct err *err = add_fault(visit, &fault);

    if (err)
        visit_refuse(visit, 400, err);
    else
        visit_answer(visit, 201, fault_json(fault));
}

void behaviour_delete_faults(struct visit *visit)
{
    faults_clear(visit->model->faults);
    operations_release(visit->model, 0);
    behaviour_get_faults(visit);
}

void behaviour_delete_fault(struct visit *visit)
{
    unsigned id = (unsigned)strtoul(visit->call->path + strlen("/azsim/faults/"), NULL, 10);

    if (!faults_remove(visit->model->faults, id)) {
        visit_refuse(visit, 404, err_new(ERR_NOT_FOUND, "fault %u does not exist", id));
        return;
    }
    operations_release(visit->model, id);
    behaviour_get_faults(visit);
}

/* ---- settings ---- */

void behaviour_get_settings(struct visit *visit)
{
    visit_answer(visit, 200, settings_json(&visit->model->settings));
}

void behaviour_patch_settings(struct visit *visit)
{
    CLEANUP(json_decrefp) json_t *json = NULL;
    struct err *err = visit_body(visit, &json);

    if (!err)
        err = settings_change(&visit->model->settings, json);
    if (err)
        visit_refuse(visit, 400, err);
    else
        behaviour_get_settings(visit);
}
