/* What happens to kubelets and plug-ins on machines that run on. It happens, if it can, while a
 * program writes to a volume's disk there, and to pods that wait for it. */

#include "lib/base/alloc.h"
#include "test/sim/kubelet.h"
#include "test/sim/running_job.h"
#include "test/sim/workload.h"
#include "test/sim/world.h"

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    LOOK_MS = 200,
    SOON_MS = 3 * SECOND_MS,
    DOWN_MS = 15 * SECOND_MS, /* the plug-in, at most */
};

/* Waits for a program that it can strike. */
struct ambush {
    struct world *world;
    struct random random;
    uint64_t until;
    bool kubelet, plugin; /* which of them is struck */
};

static struct machine *find_victim(struct ambush *ambush)
{
    struct machine *found = NULL;
    unsigned n = 0;

    LIST_FOREACH(&ambush->world->machines, link) {
        struct machine *machine = MACHINE_OF(link);

        if (machine_is_connected(machine) && machine_serves(machine) &&
            !list_is_empty(&machine->jobs) && random_below(&ambush->random, ++n) == 0)
            found = machine;
    }
    return found;
}

/* Whoever waits for the volume is to go elsewhere. */
static void move_pods(const struct machine *machine)
{
    LIST_FOREACH(&machine->world->pods, link) {
        struct pod *pod = POD_OF(link);

        if (pod->machine != machine || pod->runs || pod->deleting)
            continue;
        pod->workload->avoids[pod->ordinal] = machine;
        pod_delete(pod);
    }
}

static struct err *strike(struct task *self, struct ambush *ambush, struct machine *machine)
{
    if (random_below(&ambush->random, 3) > 0)
        move_pods(machine);
    TRY(task_sleep(self, random_below(&ambush->random, SOON_MS)));
    if (!machine_is_connected(machine))
        return NULL;
    if (ambush->plugin)
        machine_restart_plugin(machine, 1 + random_below(&ambush->random, DOWN_MS));
    if (ambush->kubelet)
        kubelet_restart(machine);
    return NULL;
}

static void lie_in_wait(struct task *self, void *arg)
{
    struct ambush *ambush = arg;
    struct machine *machine = NULL;
    struct err *err = NULL;

    while (!err && !machine && world_now(ambush->world) < ambush->until) {
        machine = find_victim(ambush);
        if (!machine)
            err = task_sleep(self, LOOK_MS);
    }
    if (machine)
        err = strike(self, ambush, machine);
    err_free(err);
    free(ambush);
}

static void lay_ambush(struct sim *sim, const struct incident *incident, bool kubelet, bool plugin)
{
    struct ambush *ambush = mem_alloc(sizeof *ambush);

    *ambush = (struct ambush){.world = sim->world,
                              .until = world_now(sim->world) + incident->duration_ms,
                              .kubelet = kubelet,
                              .plugin = plugin};
    sim_choices(incident, &ambush->random);
    if (!group_spawn(&sim->tasks, incident->kind->name, lie_in_wait, ambush))
        free(ambush);
}

static void restart_kubelet(struct sim *sim, const struct incident *incident)
{
    lay_ambush(sim, incident, true, false);
}

static void crash_plugin(struct sim *sim, const struct incident *incident)
{
    lay_ambush(sim, incident, false, true);
}

static void restart_both(struct sim *sim, const struct incident *incident)
{
    lay_ambush(sim, incident, true, true);
}

static void end(struct sim *sim, const struct incident *incident)
{
    (void)sim, (void)incident;
}

/* clang-format off */
static const struct incident_kind kubelet_kinds[] = {
    {"node-kubelet-restarted", restart_kubelet, end, 1 * MINUTE_MS, 5 * MINUTE_MS, true},
    {"node-plugin-crashed", crash_plugin, end, 1 * MINUTE_MS, 5 * MINUTE_MS, true},
    {"node-programs-restarted", restart_both, end, 1 * MINUTE_MS, 5 * MINUTE_MS, true},
};
/* clang-format on */

const struct incident_table KUBELET_INCIDENTS = {.kinds = kubelet_kinds,
                                                 .n = COUNT_OF(kubelet_kinds)};
