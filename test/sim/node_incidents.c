/* What happens to nodes: they lose their power or their connection, are drained, come and go. */

#include "lib/base/alloc.h"
#include "test/sim/foreign_disk.h"
#include "test/sim/machine_loss.h"
#include "test/sim/world.h"

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    LEAST_IN_ZONE = 2, /* machines that the autoscaler leaves there */
    LOOK_MS = 2000,
};

/* ---- power ---- */

static void send_for_care(struct machine *machine, struct random *random)
{
    machine_send_for_care(machine, 30 * SECOND_MS + random_below(random, 5 * MINUTE_MS));
}

static void power_off(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct machine *machine = machine_strike(sim, incident, &random);

    if (!machine)
        return;
    machine_power_off(machine);
    if (random_below(&random, 2) == 0)
        send_for_care(machine, &random);
}

static void power_on(struct sim *sim, const struct incident *incident)
{
    LIST_FOREACH(&sim->world->machines, link) {
        if (MACHINE_OF(link)->struck == incident)
            machine_bring_back(MACHINE_OF(link));
    }
}

/* A wave that takes a whole zone. */
static void lose_zone(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    unsigned zone = (unsigned)random_below(&random, WORLD_ZONES);
    bool care = random_below(&random, 2) == 0;
    LIST_FOREACH(&sim->world->machines, link) {
        struct machine *machine = MACHINE_OF(link);

        if (machine->zone != zone || !machine_is_whole(machine))
            continue;
        machine->struck = incident;
        machine_power_off(machine);
        if (care)
            send_for_care(machine, &random);
    }
}

/* ---- connection ---- */

static void cut(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct machine *machine = machine_strike(sim, incident, &random);

    if (machine)
        machine_cut(machine, false);
}

static void freeze(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct machine *machine = machine_strike(sim, incident, &random);

    if (machine)
        machine_cut(machine, true);
}

static void heal(struct sim *sim, const struct incident *incident)
{
    LIST_FOREACH(&sim->world->machines, link) {
        struct machine *machine = MACHINE_OF(link);

        if (machine->struck != incident)
            continue;
        machine->struck = NULL;
        machine_heal(machine);
    }
}

/* ---- the Node is deleted, and its VM runs on ---- */

enum { GARBAGE_MS = 40 * SECOND_MS }; /* until the pods of a Node that is gone go */

struct dismissal {
    struct machine *machine;
    const struct incident *incident;
};

static void lose_plugin(struct task *self, void *arg)
{
    struct dismissal *dismissal = arg;
    struct err *err = task_sleep(self, GARBAGE_MS);

    if (!err && dismissal->machine->struck == dismissal->incident)
        machine_lose_plugin(dismissal->machine);
    err_free(err);
    free(dismissal);
}

static void delete_node(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct machine *machine = machine_strike(sim, incident, &random);

    if (!machine)
        return;
    machine_dismiss(machine);
    if (random_below(&random, 2) == 0)
        return;
    struct dismissal *dismissal = mem_alloc(sizeof *dismissal);
    *dismissal = (struct dismissal){machine, incident};
    if (!group_spawn(&sim->tasks, "plug-in goes", lose_plugin, dismissal))
        free(dismissal);
}

static void restart_kubelet(struct sim *sim, const struct incident *incident)
{
    LIST_FOREACH(&sim->world->machines, link) {
        struct machine *machine = MACHINE_OF(link);

        if (machine->struck != incident)
            continue;
        machine->struck = NULL;
        machine_readmit(machine);
    }
}

/* ---- another VM of the same name ---- */

static void lose_vm(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct machine *machine = machine_strike(sim, incident, &random);

    if (machine)
        machine_delete_vm(machine);
}

static void make_again(struct task *self, void *arg)
{
    struct machine *machine = arg;
    struct err *err = NULL;

    while (!err && !machine_make_vm(machine))
        err = task_sleep(self, LOOK_MS);
    err_free(err);
}

static void make_vm(struct sim *sim, const struct incident *incident)
{
    LIST_FOREACH(&sim->world->machines, link) {
        struct machine *machine = MACHINE_OF(link);

        if (machine->struck != incident)
            continue;
        machine->struck = NULL;
        group_spawn(&sim->tasks, "VM again", make_again, machine);
    }
}

/* ---- drained, added, removed ---- */

static bool has_pods(const struct machine *machine)
{
    LIST_FOREACH(&machine->world->pods, link) {
        if (POD_OF(link)->machine == machine)
            return true;
    }
    return false;
}

static void evict_all(struct machine *machine)
{
    machine_cordon(machine, true);
    LIST_FOREACH(&machine->world->pods, link) {
        if (POD_OF(link)->machine == machine)
            pod_delete(POD_OF(link));
    }
}

static void drain(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct machine *machine = machine_strike(sim, incident, &random);

    if (machine)
        evict_all(machine);
}

static void uncordon(struct sim *sim, const struct incident *incident)
{
    LIST_FOREACH(&sim->world->machines, link) {
        struct machine *machine = MACHINE_OF(link);

        if (machine->struck != incident)
            continue;
        machine->struck = NULL;
        machine_cordon(machine, false);
    }
}

static unsigned count_in_zone(const struct world *world, unsigned zone)
{
    unsigned n = 0;

    LIST_FOREACH(&world->machines, link)
        n += MACHINE_OF(link)->zone == zone && !MACHINE_OF(link)->retired;
    return n;
}

static void add_node(struct sim *sim, const struct incident *incident)
{
    struct random random;
    unsigned n = 0;

    sim_choices(incident, &random);
    for (unsigned zone = 0; zone < WORLD_ZONES; zone++)
        n += count_in_zone(sim->world, zone);
    if (n < WORLD_MACHINES)
        world_add_machine(sim->world, (unsigned)random_below(&random, WORLD_ZONES));
}

/* The autoscaler waits until the node is empty, and deletes VM and Node. */
static void retire(struct task *self, void *arg)
{
    struct machine *machine = arg;
    struct err *err = NULL;

    while (!err && has_pods(machine))
        err = task_sleep(self, LOOK_MS);
    if (!err)
        machine_delete_vm(machine);
    while (!err && !machine_lost_vm(machine))
        err = task_sleep(self, LOOK_MS);
    err_free(err);
}

static void remove_node(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    struct machine *machine = machine_any_whole(sim->world, &random);
    if (!machine || count_in_zone(sim->world, machine->zone) <= LEAST_IN_ZONE)
        return;
    machine->retired = true;
    evict_all(machine);
    group_spawn(&sim->tasks, "retire", retire, machine);
}

/* ---- foreign disks ---- */

static void take_places(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    struct machine *machine = machine_any_whole(sim->world, &random);
    if (machine && !machine->foreign)
        foreign_disks_attach(machine, incident, 1 + (unsigned)random_below(&random, FOREIGN_DISKS));
}

static void free_places(struct sim *sim, const struct incident *incident)
{
    LIST_FOREACH(&sim->world->machines, link) {
        if (MACHINE_OF(link)->foreign == incident)
            foreign_disks_detach(MACHINE_OF(link));
    }
}

/* clang-format off */
static const struct incident_kind node_kinds[] = {
    {"node-power-off", power_off, power_on, 30 * SECOND_MS, 20 * MINUTE_MS, true},
    {"node-reboot", power_off, power_on, 1 * SECOND_MS, 30 * SECOND_MS, true},
    {"node-cut", cut, heal, 10 * SECOND_MS, 5 * MINUTE_MS, true},
    {"node-cut-long", cut, heal, 5 * MINUTE_MS, 20 * MINUTE_MS, true},
    {"node-freeze", freeze, heal, 5 * SECOND_MS, 5 * MINUTE_MS, true},
    {"node-deleted-by-hand", delete_node, restart_kubelet, 20 * SECOND_MS, 15 * MINUTE_MS, true},
    {"node-recreate", lose_vm, make_vm, 1 * MINUTE_MS, 10 * MINUTE_MS, true},
    {"node-drain", drain, uncordon, 1 * MINUTE_MS, 10 * MINUTE_MS, false},
    {"node-add", add_node, NULL, 0, 0, false},
    {"node-remove", remove_node, NULL, 0, 0, false},
    {"node-foreign-disks", take_places, free_places, 1 * MINUTE_MS, 10 * MINUTE_MS, true},
    {"zone-loss", lose_zone, power_on, 1 * MINUTE_MS, 15 * MINUTE_MS, true},
};
/* clang-format on */

const struct incident_table NODE_INCIDENTS = {.kinds = node_kinds, .n = COUNT_OF(node_kinds)};
