#include "test/sim/node_lease.h"

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "test/sim/mount.h"
#include "test/sim/node_attachment.h"
#include "test/sim/node_fence.h"
#include "test/sim/world.h"

#define KUBELET_LEASES "kube-node-lease"

enum {
    KUBELET_MS = 10 * 1000,
    KUBELET_S = 40,
    SECOND_MS = 1000,
    MOST_SKEW_MS = 5000,  /* of a clock, in either direction */
    MOST_START_MS = 4000, /* from the Node's new boot id to kubelet's first renewal */
    PRIME = 7919,         /* spreads both */
    US_IN_MS = 1000,
};

static struct sim *sim_of(const struct machine *machine)
{
    return machine->world->sim;
}

static bool reaches_server(const struct machine *machine)
{
    return machine_reaches_server(machine) && machine->registered && !machine->dismissed;
}

/* Another one in each boot, and it needs no draw. */
static unsigned spread(const struct machine *machine, unsigned most)
{
    return (machine->nth + machine->boots) * PRIME % most;
}

/* ---- the objects ---- */

static json_t *spec_json(const struct machine *machine, const char *holder, unsigned duration_s)
{
    int64_t skew_ms = (int64_t)spread(machine, 2 * MOST_SKEW_MS) - MOST_SKEW_MS;
    char now[TIMESTAMP_SIZE];

    timestamp_format_micro(loop_wall_us(sim_of(machine)->loop) + skew_ms * US_IN_MS, now);
    return json_pack("{s:s, s:i, s:s}", "holderIdentity", holder, "leaseDurationSeconds",
                     (int)duration_s, "renewTime", now);
}

static void write_lease(const struct machine *machine, const char *namespace_, bool labelled,
                        json_t *spec)
{
    struct world *world = machine->world;
    json_t *metadata = json_pack("{s:s}", "name", machine->name);

    if (labelled)
        json_object_set_new(metadata, "labels", json_pack("{s:s}", LABEL_NODE_LEASE, "true"));
    json_t *lease = json_pack("{s:o, s:o}", "metadata", metadata, "spec", spec);
    if (kube_server_get(sim_of(machine)->kube, &LEASES, namespace_, machine->name))
        world_patch(world, &LEASES, namespace_, machine->name, NULL, lease);
    else
        world_create(world, &LEASES, namespace_, lease);
}

uint64_t node_lease_renewal_ms(const struct sim *sim)
{
    return (uint64_t)sim->node_lease_s * SECOND_MS / NODE_LEASE_RENEWALS;
}

bool node_lease_is_held(const struct machine *machine)
{
    const json_t *lease =
        kube_server_get(sim_of(machine)->kube, &LEASES, WORLD_NAMESPACE, machine->name);
    const json_t *spec = json_object_get(lease, "spec");

    return json_string_length(json_object_get(spec, "holderIdentity")) > 0;
}

/* ---- the plug-in's ---- */

static bool is_wanted(const struct machine *machine)
{
    LIST_FOREACH(&machine->mounts, link) {
        const struct mount *mount = MOUNT_OF(link);

        if (mount->staged && !mount->fence_lost &&
            node_attachment_asks_for_failover(machine, mount->volume))
            return true;
    }
    return false;
}

static void give_up(struct machine *machine)
{
    if (node_lease_is_held(machine))
        world_patch(machine->world, &LEASES, WORLD_NAMESPACE, machine->name, NULL,
                    json_pack("{s:{s:s}}", "spec", "holderIdentity", ""));
    machine->holds_lease = false;
}

/* One of the boot before is given up, too. */
static void renew(void *ctx)
{
    struct machine *machine = ctx;
    unsigned duration_s = sim_of(machine)->node_lease_s;

    if (machine_serves(machine))
        node_fence_watch(machine);
    bool wanted = is_wanted(machine);
    if (!wanted && !machine->holds_lease)
        return;
    loop_start_timer(sim_of(machine)->loop, &machine->lease,
                     world_now(machine->world) + duration_s * SECOND_MS / NODE_LEASE_RENEWALS,
                     renew, machine);
    if (!reaches_server(machine) || !machine_serves(machine))
        return;
    if (!wanted) {
        give_up(machine);
        return;
    }
    CLEANUP(freep) char *boot_id = machine_boot_id(machine);
    machine->holds_lease = true;
    machine->lease_boot = machine->boots;
    machine->lease_renewed = world_now(machine->world);
    write_lease(machine, WORLD_NAMESPACE, true, spec_json(machine, boot_id, duration_s));
}

void node_lease_wanted(struct machine *machine)
{
    if (sim_of(machine)->landscape.failover && !machine->holds_lease && is_wanted(machine))
        renew(machine);
}

/* Whoever is told of a change must not make another one. */
void node_lease_heard(struct machine *machine)
{
    struct sim *sim = sim_of(machine);

    if (sim->landscape.failover && !machine->holds_lease && machine->up && is_wanted(machine))
        loop_start_timer(sim->loop, &machine->lease, world_now(machine->world), renew, machine);
}

void node_lease_give_up(struct machine *machine)
{
    if (machine->holds_lease && reaches_server(machine) && machine_serves(machine))
        give_up(machine);
}

/* ---- kubelet's ---- */

static void renew_kubelets(void *ctx)
{
    struct machine *machine = ctx;
    uint64_t now = world_now(machine->world);

    loop_start_timer(sim_of(machine)->loop, &machine->kubelet_lease, now + KUBELET_MS,
                     renew_kubelets, machine);
    if (!reaches_server(machine))
        return;
    machine->renewed = now;
    write_lease(machine, KUBELET_LEASES, false, spec_json(machine, machine->name, KUBELET_S));
}

/* ---- life ---- */

void node_lease_connected(struct machine *machine)
{
    if (sim_of(machine)->landscape.failover)
        renew_kubelets(machine);
}

/* Its Node has the new boot id by then, and the plug-in is the last to come. */
void node_lease_start(struct machine *machine)
{
    uint64_t started = world_now(machine->world) + spread(machine, MOST_START_MS);

    if (!sim_of(machine)->landscape.failover)
        return;
    machine->holds_lease = node_lease_is_held(machine);
    loop_start_timer(sim_of(machine)->loop, &machine->kubelet_lease, started, renew_kubelets,
                     machine);
    loop_start_timer(sim_of(machine)->loop, &machine->lease, started + SECOND_MS, renew, machine);
}

void node_lease_stop(struct machine *machine)
{
    loop_stop_timer(sim_of(machine)->loop, &machine->lease);
    loop_stop_timer(sim_of(machine)->loop, &machine->kubelet_lease);
    loop_stop_timer(sim_of(machine)->loop, &machine->asked);
    machine->answering = false;
}
