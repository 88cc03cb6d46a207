#include "test/sim/node_lifecycle.h"

#include "test/sim/world.h"

enum {
    PERIOD_MS = 5000,
    GRACE_MS = 50 * 1000,      /* --node-monitor-grace-period */
    QUARANTINE_MS = 40 * 1000, /* of pods whose node was deleted */
};

static void look_at_machine(struct machine *machine)
{
    uint64_t now = world_now(machine->world);

    if (!machine->registered)
        return;
    if (machine->ready && now - machine->renewed > GRACE_MS)
        machine_mark_unready(machine);
    if (!machine->ready && !machine_vm(machine))
        machine_unregister(machine);
}

static void look_at_pod(struct pod *pod)
{
    const struct machine *machine = pod->machine;
    uint64_t now = world_now(pod->world);
    bool out_of_service = machine && machine_is_out_of_service(machine);

    if (out_of_service)
        pod_delete(pod);
    if (!machine || machine->ready)
        return;
    uint64_t silent = now - machine->unready_since;
    if (!machine->registered) {
        if (silent > QUARANTINE_MS)
            pod_remove(pod);
        return;
    }
    if (silent > pod->toleration_ms)
        pod_delete(pod);
    if (out_of_service && pod->deleting)
        pod_remove(pod);
}

void node_lifecycle_run(struct task *self, void *arg)
{
    world_look_around(self, arg, PERIOD_MS, look_at_machine, look_at_pod);
}
