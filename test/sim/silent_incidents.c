/* SILENCE_INCIDENTS: nodes fall silent, in all the ways that a controller cannot tell apart, and
 * what it relies on fails meanwhile (docs/failover.md). */

#include "lib/base/alloc.h"
#include "test/sim/controller_process.h"
#include "test/sim/node_lease.h"
#include "test/sim/world.h"

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    LOOK_MS = 20,
    SOON_MS = 3000,       /* after it was asked */
    LATER_MS = 30 * 1000, /* likewise */
    DELETED_MS = 20 * SECOND_MS,
};

/* ---- which ---- */

static bool suits(const struct machine *machine)
{
    return !machine->struck && machine_is_connected(machine) && machine_serves(machine) &&
           !machine->disks_cut && !machine->retired && machine->registered && !machine->given_up;
}

/* One of which somebody expects to hear, if there is one. */
static struct machine *strike(struct sim *sim, const struct incident *incident,
                              struct random *random)
{
    struct machine *found = NULL;
    unsigned n = 0;

    sim_choices(incident, random);
    LIST_FOREACH(&sim->world->machines, link) {
        if (suits(MACHINE_OF(link)) && MACHINE_OF(link)->holds_lease &&
            random_below(random, ++n) == 0)
            found = MACHINE_OF(link);
    }
    if (found)
        found->struck = incident;
    return found;
}

static void recover(struct machine *machine)
{
    machine->struck = NULL;
    if (machine->dismissed)
        machine_readmit(machine);
    machine_heal(machine);
    if (machine->disks_cut)
        machine_cut_disks(machine, false);
    if (!machine->retired)
        machine_power_on(machine);
}

static void recover_all(struct sim *sim, const struct incident *incident)
{
    LIST_FOREACH(&sim->world->machines, link) {
        if (MACHINE_OF(link)->struck == incident)
            recover(MACHINE_OF(link));
    }
}

/* ---- ways to fall silent ---- */

static void die(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct machine *machine = strike(sim, incident, &random);

    if (machine)
        machine_power_off(machine);
}

static void lose_host(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct machine *machine = strike(sim, incident, &random);

    if (machine)
        machine_lose_host(machine);
}

static void cut(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct machine *machine = strike(sim, incident, &random);

    if (machine)
        machine_cut(machine, false);
}

/* A switch of theirs: all of which somebody expects to hear, at once. */
static void cut_many(struct sim *sim, const struct incident *incident)
{
    LIST_FOREACH(&sim->world->machines, link) {
        struct machine *machine = MACHINE_OF(link);

        if (!suits(machine) || !machine->holds_lease)
            continue;
        machine->struck = incident;
        machine_cut(machine, false);
    }
}

/* A zone loses its power, or its way to the API server. */
static void lose_zone(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    unsigned zone = (unsigned)random_below(&random, WORLD_ZONES);
    bool dies = random_below(&random, 2);
    LIST_FOREACH(&sim->world->machines, link) {
        struct machine *machine = MACHINE_OF(link);

        if (!suits(machine) || machine->zone != zone)
            continue;
        machine->struck = incident;
        if (dies)
            machine_power_off(machine);
        else
            machine_cut(machine, false);
    }
}

static void freeze(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct machine *machine = strike(sim, incident, &random);

    if (machine)
        machine_cut(machine, true);
}

static void hibernate(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct machine *machine = strike(sim, incident, &random);

    if (machine)
        machine_hibernate(machine);
}

static void cut_disks(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct machine *machine = strike(sim, incident, &random);

    if (machine)
        machine_cut_disks(machine, true);
}

/* Both at once: its host is cut off from everything, and runs. */
static void cut_all(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct machine *machine = strike(sim, incident, &random);

    if (!machine)
        return;
    machine_cut(machine, false);
    machine_cut_disks(machine, true);
}

/* Kubelet and the pods go on. */
static void lose_plugin(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct machine *machine = strike(sim, incident, &random);

    if (!machine)
        return;
    if (random_below(&random, 2) == 0)
        node_lease_give_up(machine); /* as by an update */
    machine_restart_plugin(machine, incident->duration_ms);
    machine->struck = NULL;
}

static void end_of_plugin(struct sim *sim, const struct incident *incident)
{
    (void)sim, (void)incident;
}

static void delete_lease(struct sim *sim, const struct incident *incident)
{
    struct random random;
    const struct machine *machine = strike(sim, incident, &random);

    if (machine)
        world_delete(sim->world, &LEASES, WORLD_NAMESPACE, machine->name);
    recover_all(sim, incident);
}

/* ---- and their Nodes are deleted ---- */

/* Of a machine that runs, or is about to be seen to be silent, or has been for a while. */
static void forget_node(struct task *self, void *arg)
{
    struct machine *machine = arg;
    const struct incident *incident = machine->struck;
    struct err *err = task_sleep(self, world_draw(machine->world, 1, DELETED_MS));

    if (!err && machine->struck == incident && machine->registered)
        machine_dismiss(machine);
    err_free(err);
}

static void delete_node(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct machine *machine = strike(sim, incident, &random);
    uint64_t how = random_below(&random, 4);

    if (!machine)
        return;
    if (how == 0)
        machine_power_off(machine);
    else if (how == 1)
        machine_cut(machine, random_below(&random, 2));
    group_spawn(&sim->tasks, incident->kind->name, forget_node, machine);
}

/* ---- and meanwhile ---- */

/* Waits until somebody is asked to preempt the silent node's key. */
struct ambush {
    struct sim *sim;
    struct random random;
    const struct incident *incident;
    unsigned questions;
    const struct machine *asked;
    uint64_t (*after_ms)(struct random *random); /* that it was asked */
    void (*spring)(struct ambush *ambush);
};

static uint64_t soon(struct random *random)
{
    return random_below(random, 4) ? random_below(random, 300) : random_below(random, SOON_MS);
}

/* When the volumes may run there. */
static uint64_t later(struct random *random)
{
    return random_below(random, LATER_MS);
}

static void kill_leader(void *arg)
{
    struct controller_process **leader = sim_leader(arg);

    if (leader)
        controller_process_kill(TAKE_PTR(*leader));
}

static void pause_leader(struct ambush *ambush)
{
    struct controller_process **leader = sim_leader(ambush->sim);

    if (leader)
        controller_process_pause(*leader, 1 + random_below(&ambush->random, 40 * SECOND_MS));
}

/* The machine that was asked falls silent, too. */
static void strike_replica(struct ambush *ambush)
{
    struct machine *machine = machine_find(ambush->sim->world, ambush->asked->name);

    if (!suits(machine))
        return;
    machine->struck = ambush->incident;
    if (random_below(&ambush->random, 2))
        machine_power_off(machine);
    else
        machine_cut(machine, random_below(&ambush->random, 2));
}

static void spring_on_leader(struct ambush *ambush)
{
    (void)ambush; /* by lie_in_wait, on the loop's own stack */
}

static void lie_in_wait(struct task *self, void *arg)
{
    struct ambush *ambush = arg;
    struct sim *sim = ambush->sim;
    uint64_t until = world_now(sim->world) + ambush->incident->duration_ms;
    uint64_t after_ms = ambush->after_ms(&ambush->random);
    struct err *err = NULL;

    while (!err && sim->world->questions == ambush->questions && world_now(sim->world) < until)
        err = task_sleep(self, LOOK_MS);
    bool asked = sim->world->questions != ambush->questions;
    ambush->asked = sim->world->asked;
    if (!err && asked)
        err = task_sleep(self, after_ms);
    asked = asked && world_now(sim->world) < until; /* what is struck later stays so */
    if (!err && asked && ambush->spring == spring_on_leader)
        loop_call(self, kill_leader, sim);
    else if (!err && asked)
        ambush->spring(ambush);
    err_free(err);
    free(ambush);
}

/* The node that falls silent so that somebody is asked lives on, or not. */
static void lay_ambush(struct sim *sim, const struct incident *incident,
                       uint64_t (*after_ms)(struct random *), void (*spring)(struct ambush *))
{
    struct random random;
    struct machine *machine = strike(sim, incident, &random);
    struct ambush *ambush;

    if (!machine)
        return;
    ambush = mem_alloc(sizeof *ambush);
    *ambush = (struct ambush){.sim = sim,
                              .random = random,
                              .incident = incident,
                              .questions = sim->world->questions,
                              .after_ms = after_ms,
                              .spring = spring};
    if (random_below(&random, 3) == 0)
        machine_power_off(machine);
    else
        machine_cut(machine, false);
    if (!group_spawn(&sim->tasks, incident->kind->name, lie_in_wait, ambush))
        free(ambush);
}

static void ambush_leader(struct sim *sim, const struct incident *incident)
{
    lay_ambush(sim, incident, soon, spring_on_leader);
}

static void ambush_pausing_leader(struct sim *sim, const struct incident *incident)
{
    lay_ambush(sim, incident, soon, pause_leader);
}

static void ambush_replica(struct sim *sim, const struct incident *incident)
{
    lay_ambush(sim, incident, soon, strike_replica);
}

static void ambush_successor(struct sim *sim, const struct incident *incident)
{
    lay_ambush(sim, incident, later, strike_replica);
}

/* clang-format off */
static const struct incident_kind silent_kinds[] = {
    {"silent-dies", die, recover_all, 1 * SECOND_MS, 15 * MINUTE_MS, true},
    {"silent-host-dies", lose_host, recover_all, 1 * SECOND_MS, 15 * MINUTE_MS, true},
    {"silent-cut", cut, recover_all, 5 * SECOND_MS, 60 * SECOND_MS, true},
    {"silent-cut-long", cut, recover_all, 1 * MINUTE_MS, 10 * MINUTE_MS, true},
    {"silent-many-cut", cut_many, recover_all, 5 * SECOND_MS, 3 * MINUTE_MS, true},
    {"silent-zone", lose_zone, recover_all, 5 * SECOND_MS, 6 * MINUTE_MS, true},
    {"silent-frozen", freeze, recover_all, 5 * SECOND_MS, 2 * MINUTE_MS, true},
    {"silent-hibernates", hibernate, recover_all, 5 * SECOND_MS, 5 * MINUTE_MS, true},
    {"silent-disks-cut", cut_disks, recover_all, 5 * SECOND_MS, 2 * MINUTE_MS, true},
    {"silent-all-cut", cut_all, recover_all, 5 * SECOND_MS, 3 * MINUTE_MS, true},
    {"silent-plugin", lose_plugin, end_of_plugin, 2 * SECOND_MS, 3 * MINUTE_MS, true},
    {"silent-lease-deleted", delete_lease, NULL, 0, 0, true},
    {"silent-deleted", delete_node, recover_all, 2 * SECOND_MS, 5 * MINUTE_MS, true},
    {"silent-leader-dies", ambush_leader, recover_all, 20 * SECOND_MS, 4 * MINUTE_MS, true},
    {"silent-leader-pauses", ambush_pausing_leader, recover_all, 20 * SECOND_MS, 4 * MINUTE_MS, true},
    {"silent-replica-too", ambush_replica, recover_all, 20 * SECOND_MS, 4 * MINUTE_MS, true},
    {"silent-successor-too", ambush_successor, recover_all, 40 * SECOND_MS, 6 * MINUTE_MS, true},
};
/* clang-format on */

const struct incident_table SILENCE_INCIDENTS = {.kinds = silent_kinds,
                                                 .n = COUNT_OF(silent_kinds)};
