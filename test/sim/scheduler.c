#include "test/sim/scheduler.h"

#include "lib/base/alloc.h"
#include "provisioner-lib/records/names.h"
#include "test/sim/coverage.h"
#include "test/sim/gate.h"
#include "test/sim/record.h"
#include "test/sim/workload.h"
#include "test/sim/world.h"

enum {
    LOOK_MS = 10 * 1000, /* at pods for which there was no node */
    DELAY_MS = 100,
    AVOID_MS = 60 * 1000, /* how long a pod insists on another node */
    SCALE_UP_MS = 120 * 1000,
    WITHOUT_EXTENDER = 10, /* decisions in a hundred */
    REPLICA_SCORE = 20,
    CHANCE_SCORE = 10,
};

/* ---- which nodes suit ---- */

/* Volumes on the machine if the pod came too. */
static unsigned volumes_with(const struct machine *machine, const struct pod *pod)
{
    unsigned n = 0;

    LIST_FOREACH(&machine->world->volumes, link) {
        const struct volume *volume = VOLUME_OF(link);
        bool here = pod_uses(pod, volume) || publication_find(machine, volume);

        LIST_FOREACH(&machine->world->pods, other) {
            here |= POD_OF(other)->machine == machine && pod_uses(POD_OF(other), volume);
        }
        n += here;
    }
    return n;
}

static bool is_in_zones(const struct machine *machine, const struct pod *pod)
{
    if (pod->zone >= 0 && (unsigned)pod->zone != machine->zone)
        return false;
    for (size_t i = 0; i < pod->n_volumes; i++) {
        const struct volume *volume = pod->volumes[i];

        if (volume->zones && !(volume->zones & 1U << machine->zone))
            return false;
        if (!volume->zones && volume->chosen_zone >= 0 &&
            (unsigned)volume->chosen_zone != machine->zone)
            return false;
    }
    return true;
}

bool machine_has_sibling(const struct machine *machine, const struct pod *pod)
{
    LIST_FOREACH(&machine->world->pods, link) {
        const struct pod *other = POD_OF(link);

        if (other != pod && other->machine == machine && other->workload == pod->workload)
            return true;
    }
    return false;
}

static bool is_avoided(const struct machine *machine, const struct pod *pod)
{
    return machine == pod->avoids && world_now(pod->world) - pod->created < AVOID_MS;
}

static bool suits(const struct machine *machine, const struct pod *pod)
{
    return machine->registered && machine->ready && !machine->cordoned &&
           !machine_is_out_of_service(machine) && !machine->moved && !is_avoided(machine, pod) &&
           is_in_zones(machine, pod) &&
           !(pod->workload->spread && machine_has_sibling(machine, pod)) &&
           volumes_with(machine, pod) <= MACHINE_SLOTS;
}

/* ---- and which is best ---- */

static unsigned count_attachments(const struct machine *machine, const struct pod *pod)
{
    unsigned n = 0;

    for (size_t i = 0; i < pod->n_volumes; i++) {
        const char *disk = pod->volumes[i]->disk;

        n += disk && record_find(machine->world->sim, disk, machine->name);
    }
    return n;
}

/* Tried before all others, and taken if it suits. */
static struct machine *proposed(const struct world *world, const struct pod *pod)
{
    struct machine *machine = world->sim->landscape.gates ? pod_nominated_machine(pod) : NULL;

    if (machine)
        coverage_count("nominated node", suits(machine, pod) ? "taken" : "refused", "by scheduler");
    return machine && suits(machine, pod) ? machine : NULL;
}

/* Where pods wait at the gate, the scheduler knows no extender. */
static struct machine *choose(struct world *world, const struct pod *pod)
{
    bool extended = !world_chance(world, WITHOUT_EXTENDER) && !world->sim->landscape.gates;
    struct machine *best = proposed(world, pod);
    int best_score = 0;

    if (best)
        return best;
    LIST_FOREACH(&world->machines, link) {
        struct machine *machine = MACHINE_OF(link);

        if (!suits(machine, pod))
            continue;
        int score = (int)world_draw(world, 0, CHANCE_SCORE) - 2 * (int)volumes_with(machine, pod);
        if (extended)
            score += REPLICA_SCORE * (int)count_attachments(machine, pod);
        if (!best || score > best_score) {
            best = machine;
            best_score = score;
        }
    }
    return best;
}

/* ---- pods ---- */

static bool volumes_are_bound(const struct pod *pod)
{
    for (size_t i = 0; i < pod->n_volumes; i++)
        if (pod->volumes[i]->phase != VOLUME_BOUND)
            return false;
    return true;
}

static void choose_zones(const struct pod *pod, const struct machine *machine)
{
    for (size_t i = 0; i < pod->n_volumes; i++) {
        struct volume *volume = pod->volumes[i];

        if (volume->phase == VOLUME_PENDING && volume->chosen_zone < 0) {
            volume->chosen_zone = (int)machine->zone;
            waiters_wake(&volume->changed);
        }
    }
}

/* ---- cluster-autoscaler ---- */

/* A zone in which the pod may be, and whose machines are all well; -1: there is none. */
static int zone_for(const struct pod *pod)
{
    for (unsigned zone = 0; zone < WORLD_ZONES; zone++) {
        bool whole = true;
        const struct machine like = {.zone = zone};

        LIST_FOREACH(&pod->world->machines, link) {
            const struct machine *machine = MACHINE_OF(link);

            whole &=
                machine->zone != zone || machine->retired || (machine->ready && !machine->struck);
        }
        if (whole && is_in_zones(&like, pod))
            return (int)zone;
    }
    return -1;
}

static void scale_up(struct world *world, struct pod *pod)
{
    uint64_t now = world_now(world);
    int zone;

    if (!pod->unplaced_since)
        pod->unplaced_since = now;
    if (now - pod->unplaced_since < SCALE_UP_MS || now - world->scaled_up < SCALE_UP_MS)
        return;
    zone = zone_for(pod);
    if (zone < 0)
        return;
    world->scaled_up = now;
    sim_note(world->sim, "the cluster is too small for pod %s", pod->name);
    world_add_machine(world, (unsigned)zone);
}

/* ---- a decision ---- */

static void schedule(struct world *world, struct pod *pod)
{
    struct machine *machine;

    if (pod->machine || pod->deleting)
        return;
    if (pod_waits_at_gate(pod)) {
        pod->waits_for = "its gate";
        return;
    }
    machine = choose(world, pod);
    pod->waits_for = machine ? "its volumes to be made" : "a node";
    if (!machine) {
        scale_up(world, pod);
        return;
    }
    pod->unplaced_since = 0;
    if (!volumes_are_bound(pod)) {
        choose_zones(pod, machine);
        return;
    }
    pod->avoids = NULL;
    pod_place(pod, machine);
}

void scheduler_run(struct task *self, void *arg)
{
    struct world *world = arg;

    do {
        LIST_FOREACH(&world->pods, link)
            schedule(world, POD_OF(link));
    } while (world_wait_for_pods(self, world, LOOK_MS, DELAY_MS));
}
