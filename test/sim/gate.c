#include "test/sim/gate.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/records/placement_gate.h"
#include "test/sim/controller_process.h"
#include "test/sim/record.h"
#include "test/sim/world.h"

enum {
    LOOK_MS = 500,
    WEBHOOK = 90,          /* in a hundred: it is reached */
    ATTACHED_NOWHERE = 20, /* likewise: the webhook's index is behind, or the pod is new */
    HELD = 10,             /* likewise: by somebody else */
    HELD_LEAST_MS = 200,
    HELD_MOST_MS = 20 * 1000,
};

/* ---- what an object says ---- */

static const json_t *gates_in(const json_t *pod)
{
    return json_object_get(json_object_get(pod, "spec"), "schedulingGates");
}

bool gates_have(const json_t *pod, const char *name)
{
    size_t i;
    const json_t *gate;

    json_array_foreach(gates_in(pod), i, gate)
        if (strcmp(json_string_value(json_object_get(gate, "name")), name) == 0)
            return true;
    return false;
}

static const json_t *object_of(const struct pod *pod)
{
    return kube_server_get(pod->world->sim->kube, &PODS, WORLD_POD_NAMESPACE, pod->name);
}

/* ---- the webhook, and others that hold pods ---- */

/* No gate is added while nobody would take it away. */
static bool somebody_leads(const struct sim *sim)
{
    for (size_t i = 0; i < SIM_CONTROLLERS; i++)
        if (sim->controllers[i] && controller_process_leads(sim->controllers[i]))
            return true;
    return false;
}

static bool is_attached_somewhere(const struct pod *pod)
{
    LIST_FOREACH(&pod->world->machines, link) {
        for (size_t i = 0; i < pod->n_volumes; i++)
            if (pod->volumes[i]->disk &&
                record_find(pod->world->sim, pod->volumes[i]->disk, MACHINE_OF(link)->name))
                return true;
    }
    return false;
}

static json_t *gate_json(const char *name)
{
    return json_pack("{s:s}", "name", name);
}

static json_t *gates_json(const struct pod *pod)
{
    json_t *gates = json_array();

    if (pod->gated)
        json_array_append_new(gates, gate_json(PLACEMENT_GATE));
    if (pod->held_until)
        json_array_insert_new(gates, pod->held_until % 2 ? json_array_size(gates) : 0,
                              gate_json(FOREIGN_GATE));
    return gates;
}

json_t *gates_of_new_pod(struct pod *pod)
{
    struct world *world = pod->world;

    if (!world->sim->landscape.gates)
        return NULL;
    pod->gated = world_chance(world, WEBHOOK) &&
                 (world_chance(world, ATTACHED_NOWHERE) || is_attached_somewhere(pod)) &&
                 somebody_leads(world->sim);
    if (world_chance(world, HELD))
        pod->held_until = world_now(world) + world_draw(world, HELD_LEAST_MS, HELD_MOST_MS);
    return pod->gated || pod->held_until ? gates_json(pod) : NULL;
}

/* ---- pods at the gate ---- */

bool pod_waits_at_gate(const struct pod *pod)
{
    return pod->gated || pod->held_until;
}

struct machine *pod_nominated_machine(const struct pod *pod)
{
    const json_t *status = json_object_get(object_of(pod), "status");
    const char *name = json_string_value(json_object_get(status, "nominatedNodeName"));

    return name ? machine_find(pod->world, name) : NULL;
}

void gates_see(struct world *world, const json_t *after)
{
    const char *name =
        json_string_value(json_object_get(json_object_get(after, "metadata"), "name"));

    LIST_FOREACH(&world->pods, link) {
        struct pod *pod = POD_OF(link);

        if (pod->gone || strcmp(pod->name, name) != 0)
            continue;
        if (pod->gated && !gates_have(after, PLACEMENT_GATE)) {
            sim_note(world->sim, "pod %s is let through the gate", name);
            pod->gated = false;
            waiters_wake(&world->pods_changed);
        }
    }
}

/* ---- who takes gates away ---- */

static void write_gates(const struct pod *pod)
{
    world_patch(pod->world, &PODS, WORLD_POD_NAMESPACE, pod->name, NULL,
                json_pack("{s:{s:o}}", "spec", "schedulingGates", gates_json(pod)));
    waiters_wake(&pod->world->pods_changed);
}

static void look_at(struct pod *pod)
{
    struct sim *sim = pod->world->sim;
    uint64_t now = world_now(pod->world);

    if (pod->gone || kube_server_is_away(sim->kube))
        return;
    if (pod->held_until && now >= pod->held_until) {
        pod->held_until = 0;
        write_gates(pod);
    }
    if (sim->landscape.gate_keepers && pod->gated &&
        now - pod->created >= PLACEMENT_GATE_LIMIT_MS) {
        sim_note(sim, "a keeper lets pod %s through the gate", pod->name);
        pod->gated = false;
        write_gates(pod);
    }
}

static void pass(struct machine *machine)
{
    (void)machine;
}

void gates_run(struct task *self, void *arg)
{
    world_look_around(self, arg, LOOK_MS, pass, look_at);
}
