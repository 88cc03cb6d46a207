/* Invariants of pods that are moved away from a silent node, with their volumes, although the node
 * is not given up as a whole (docs/failover.md). What is true is what disks and machines say. */

#include "test/sim/coverage.h"
#include "test/sim/invariant_check.h"
#include "test/sim/node_objects.h"
#include "test/sim/workload.h"

/* ---- the moment ---- */

static void check_user(const struct pod *pod, const struct volume *volume)
{
    if (pod->runs && pod->workload->uses_share)
        verdict_violated(pod->world->sim, NO_PROOF,
                         "volume %s is moved away from %s with pod %s, which uses another driver's",
                         volume->pv, pod->machine->name, pod->name);
}

static void check_let_go(const struct mount *mount)
{
    struct volume *volume = mount->volume;
    const struct machine *machine = mount->machine;
    struct sim *sim = machine->world->sim;

    coverage_count("failover", machine->up ? "alive" : "dead", "moved");
    volume->given_up_at = loop_now(sim->loop);
    if (!volume->wish.failover)
        verdict_violated(sim, NO_PROOF, "volume %s is moved away from %s, and did not ask for it",
                         volume->pv, machine->name);
    if (mount_may_write(mount))
        verdict_violated(sim, NO_PROOF, "volume %s is moved away from %s, which can write to it",
                         volume->pv, machine->name);
    LIST_FOREACH(&machine->world->pods, link) {
        if (POD_OF(link)->machine == machine && pod_uses(POD_OF(link), volume))
            check_user(POD_OF(link), volume);
    }
}

/* Kubelet says so only of what it has unmounted. */
void check_moved(const struct invariants *invariants, const json_t *before, const json_t *after)
{
    const json_t *metadata = json_object_get(after, "metadata");
    const struct machine *machine =
        before && after ? machine_find(invariants->sim->world,
                                       json_string_value(json_object_get(metadata, "name")))
                        : NULL;

    if (!machine)
        return;
    LIST_FOREACH(&machine->mounts, link) {
        const struct mount *mount = MOUNT_OF(link);

        if (node_has_in_use(before, mount->volume) && !node_has_in_use(after, mount->volume))
            check_let_go(mount);
    }
}

void invariants_pod_ended(struct sim *sim, const struct pod *pod)
{
    const struct machine *machine = pod->machine;

    if (!sim->invariants || !sim->landscape.failover || machine_is_out_of_service(machine))
        return;
    if (pod->runs && pod->workload->uses_share)
        verdict_violated(sim, NO_PROOF, "pod %s is ended on %s, and uses another driver's volume",
                         pod->name, machine->name);
    for (size_t i = 0; i < pod->n_volumes; i++) {
        const struct mount *mount = machine_mount(machine, pod->volumes[i]);

        if (mount && mount_may_write(mount))
            verdict_violated(sim, NO_PROOF, "pod %s is ended on %s, which can write to volume %s",
                             pod->name, machine->name, pod->volumes[i]->pv);
    }
}

/* ---- in time ---- */

bool pods_can_move(const struct machine *machine)
{
    LIST_FOREACH(&machine->world->pods, link) {
        if (POD_OF(link)->machine == machine && POD_OF(link)->workload->uses_share)
            return false;
    }
    return true;
}

void check_moved_in_time(const struct machine *machine, uint64_t due)
{
    struct sim *sim = machine->world->sim;
    uint64_t now = loop_now(sim->loop);

    if (now < due || now < machine->immovable_at + FAILOVER_DECISION_MS || machine->n_in_use == 0)
        return;
    verdict_violated(sim, GIVEN_UP_IN_TIME,
                     "nothing is heard of %s since %.3f s, and its pods with volumes can be moved",
                     machine->name, (double)machine->silent_since / 1000);
}
