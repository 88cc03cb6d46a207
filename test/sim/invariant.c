#include "test/sim/invariant.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/resource.h"
#include "test/sim/azure_side.h"
#include "test/sim/controller_process.h"
#include "test/sim/coverage.h"
#include "test/sim/invariant_check.h"

/* ---- what the servers say ---- */

static void see_volume(struct invariants *invariants, const json_t *before, const json_t *after)
{
    const json_t *metadata = json_object_get(after ? after : before, "metadata");

    records_see_volume(&invariants->records, before, after);
    check_disk(invariants,
               record_named(invariants->sim, json_string_value(json_object_get(metadata, "name"))));
}

static void see_object(void *ctx, const struct api_resource *resource, const json_t *before,
                       const json_t *after)
{
    struct invariants *invariants = ctx;

    if (resource == &AZ_VOLUMES)
        see_volume(invariants, before, after);
    if (resource == &NODES && invariants->sim->landscape.failover) {
        check_taint(invariants, before, after);
        check_moved(invariants, before, after);
    }
    if (resource == &PODS && before && after && invariants->sim->landscape.gates)
        check_gates_of(invariants, before, after);
    if (resource != &AZ_VOLUME_ATTACHMENTS)
        return;
    invariants->changes++;
    records_see_attachment(&invariants->records, before, after);
    const json_t *spec = json_object_get(after ? after : before, "spec");
    const char *name = json_string_value(json_object_get(spec, "volumeName"));
    CLEANUP(freep)
    char *disk = resource_key(json_string_value(json_object_get(spec, "volume_id")));
    note_record(invariants, disk, json_string_value(json_object_get(spec, "nodeName")));
    check_record(invariants, record_named(invariants->sim, name));
    check_disk(invariants, record_named(invariants->sim, name));
}

static void see_request(void *ctx, const struct arm_record *record)
{
    struct invariants *invariants = ctx;

    if (record->kind && record->fault)
        coverage_count("fault", record->fault, record->kind);
    if (record->kind)
        check_request(invariants, record);
}

static void count_states(const struct invariants *invariants, const char *what, const char *event)
{
    HASH_FOREACH(invariants->records.volumes, volume) {
        LIST_FOREACH(&volume->attachments, link) {
            coverage_count(what, RECORD_OF(link)->state, event);
        }
    }
}

/* Others strike machines, and what runs there. */
static bool is_of_servers(const struct incident *incident)
{
    static const char *const others[] = {"node-", "zone-", "pod-", "silent-"};

    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (strncmp(incident->kind->name, others[i], strlen(others[i])) == 0)
            return strstr(incident->kind->name, "leader") != NULL;
    return true;
}

/* Azure has no part in where pods go. */
static bool is_of_control_plane(const struct incident *incident)
{
    return is_of_servers(incident) &&
           strncmp(incident->kind->name, "azure-", strlen("azure-")) != 0;
}

void invariants_incident(struct sim *sim, const struct incident *incident)
{
    struct invariants *invariants = sim->invariants;

    if (!invariants)
        return;
    count_states(invariants, "incident", incident->kind->name);
    if (!incident->kind->bad)
        return;
    invariants->troubles += incident->kind->end != NULL;
    invariants->trouble_at = loop_now(sim->loop);
    if (!is_of_servers(incident))
        return;
    invariants->server_troubles += incident->kind->end != NULL;
    invariants->server_trouble_at = loop_now(sim->loop);
    if (!is_of_control_plane(incident))
        return;
    invariants->control_troubles += incident->kind->end != NULL;
    invariants->control_mended = loop_now(sim->loop);
}

void invariants_incident_ended(struct sim *sim, const struct incident *incident)
{
    if (!sim->invariants || !incident->kind->bad)
        return;
    sim->invariants->troubles--;
    sim->invariants->trouble_at = sim->invariants->mended = loop_now(sim->loop);
    if (!is_of_servers(incident))
        return;
    sim->invariants->server_troubles--;
    sim->invariants->server_trouble_at = loop_now(sim->loop);
    if (!is_of_control_plane(incident))
        return;
    sim->invariants->control_troubles--;
    sim->invariants->control_mended = loop_now(sim->loop);
}

/* ---- after each step ---- */

static void look_for_leader(struct invariants *invariants)
{
    struct sim *sim = invariants->sim;

    for (size_t i = 0; i < SIM_CONTROLLERS; i++) {
        bool leads = sim->controllers[i] && controller_process_leads(sim->controllers[i]);

        if (leads == invariants->leads[i])
            continue;
        invariants->leads[i] = leads;
        if (!leads)
            continue;
        count_states(invariants, "leader", "begins");
        invariants->led_since = loop_now(sim->loop);
        sim_note(sim, "controller-%zu leads", i);
    }
}

static void look_at_mounts(struct invariants *invariants)
{
    uint64_t azure_changes = invariants->sim->azure_side->model->n_changes;
    uint64_t mounts = mounts_now(invariants->sim);

    if (invariants->changes == invariants->seen_changes &&
        azure_changes == invariants->seen_azure_changes && mounts == invariants->seen_mounts)
        return;
    invariants->seen_changes = invariants->changes;
    invariants->seen_azure_changes = azure_changes;
    invariants->seen_mounts = mounts;
    check_mounts(invariants);
}

bool invariants_hold(struct invariants *invariants)
{
    struct sim *sim = invariants->sim;

    look_for_leader(invariants);
    look_at_mounts(invariants);
    check_waits(invariants);
    check_failovers(invariants);
    check_gates(invariants);
    if (verdict_is_good(sim->verdict))
        return true;
    sim->verdict->step = sim->step;
    return false;
}

/* ---- CSI ---- */

void invariants_asked(struct sim *sim, const char *method, const ProtobufCMessage *request)
{
    if (sim->invariants)
        note_question(sim->invariants, method, request);
}

void invariants_answered(struct sim *sim, const char *method, const ProtobufCMessage *request,
                         const ProtobufCMessage *response, const struct err *err)
{
    if (sim->invariants)
        check_answer(sim->invariants, method, request, response, err);
}

void invariants_deleted_by_hand(struct sim *sim, const char *disk, const char *node)
{
    if (sim->invariants)
        note_deleted_by_hand(sim->invariants, disk, node);
}

/* ---- life ---- */

struct invariants *invariants_new(struct sim *sim)
{
    struct invariants *invariants = mem_alloc(sizeof *invariants);

    invariants->sim = sim;
    invariants->records.sim = sim;
    kube_server_observe(sim->kube, see_object, invariants);
    sim->azure_side->observe = see_request;
    sim->azure_side->observe_ctx = invariants;
    return invariants;
}

void invariants_free(struct invariants *invariants)
{
    if (!invariants)
        return;
    invariants->sim->azure_side->observe = NULL;
    records_fini(&invariants->records);
    calls_fini(invariants);
    growings_fini(invariants);
    copyings_fini(invariants);
    free(invariants);
}

struct records *invariants_records(struct invariants *invariants)
{
    return &invariants->records;
}
