/* Invariants of pods that wait at the gate: what we add and take away must hold up no pod, and
 * nobody else's gate goes. */

#include <string.h>

#include "provisioner-lib/records/placement_gate.h"
#include "test/sim/coverage.h"
#include "test/sim/gate.h"
#include "test/sim/invariant_check.h"

enum {
    LOOK_MS = 1000,
    MOST_MS = 10 * 1000,
    CATCH_UP_MS = 60 * 1000, /* after trouble: watches are there again */
};

/* ---- what changes ---- */

static const struct pod *pod_named(const struct world *world, const char *name)
{
    LIST_FOREACH(&world->pods, link)
        if (strcmp(POD_OF(link)->name, name) == 0)
            return POD_OF(link);
    return NULL;
}

void check_gates_of(const struct invariants *invariants, const json_t *before, const json_t *after)
{
    const json_t *metadata = json_object_get(before, "metadata");
    const char *name = json_string_value(json_object_get(metadata, "name"));
    const struct pod *pod = pod_named(invariants->sim->world, name);

    if (pod && pod->held_until && gates_have(before, FOREIGN_GATE) &&
        !gates_have(after, FOREIGN_GATE))
        verdict_violated(invariants->sim, OTHERS_GATES, "pod %s had one", name);
    if (gates_have(before, PLACEMENT_GATE) && !gates_have(after, PLACEMENT_GATE)) {
        const json_t *status = json_object_get(after, "status");

        coverage_count("gate", json_object_get(status, "nominatedNodeName") ? "nominated" : "plain",
                       "removed");
    }
}

/* ---- how long it is there ---- */

static bool somebody_leads(const struct invariants *invariants)
{
    for (size_t i = 0; i < SIM_CONTROLLERS; i++)
        if (invariants->leads[i])
            return true;
    return false;
}

/* Since when somebody has been able to take it away; 0: nobody is. */
static uint64_t able_since(const struct invariants *invariants)
{
    uint64_t since = invariants->led_since;

    if (invariants->sim->landscape.gate_keepers)
        return invariants->server_back + 1;
    if (invariants->control_troubles > 0 || !somebody_leads(invariants))
        return 0;
    if (invariants->control_mended && invariants->control_mended + CATCH_UP_MS > since)
        since = invariants->control_mended + CATCH_UP_MS;
    return since + 1;
}

void check_gates(struct invariants *invariants)
{
    struct sim *sim = invariants->sim;
    uint64_t now = loop_now(sim->loop);

    if (!sim->landscape.gates || now < invariants->gates_seen + LOOK_MS)
        return;
    invariants->gates_seen = now;
    if (kube_server_is_away(sim->kube))
        invariants->server_back = now;
    uint64_t able = able_since(invariants);
    LIST_FOREACH(&sim->world->pods, link) {
        const struct pod *pod = POD_OF(link);
        uint64_t since = pod->created > able ? pod->created : able;

        if (able && pod->gated && !pod->deleting && now > since + MOST_MS)
            verdict_violated(sim, NO_GATE, "pod %s waits at the gate since %.3f s", pod->name,
                             (double)pod->created / 1000);
    }
}
