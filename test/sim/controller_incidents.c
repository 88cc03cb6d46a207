/* CONTROLLER_INCIDENTS: controllers are killed, end, stand still, and lose each other. */

#include "lib/base/alloc.h"
#include "test/sim/controller_process.h"
#include "test/sim/sim.h"

/* The one that believes that it leads; any one if none does. */
static size_t leader_or(struct sim *sim, size_t otherwise)
{
    struct controller_process **leader = sim_leader(sim);

    return leader ? (size_t)(leader - sim->controllers) : otherwise;
}

static size_t any(const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    return (size_t)random_below(&random, SIM_CONTROLLERS);
}

static void kill_one(struct sim *sim, size_t i)
{
    if (sim->controllers[i])
        controller_process_kill(TAKE_PTR(sim->controllers[i]));
}

static void pause_one(struct sim *sim, size_t i, uint64_t ms)
{
    if (sim->controllers[i])
        controller_process_pause(sim->controllers[i], ms);
}

static void kill_leader(struct sim *sim, const struct incident *incident)
{
    kill_one(sim, leader_or(sim, any(incident)));
}

static void kill_any(struct sim *sim, const struct incident *incident)
{
    kill_one(sim, any(incident));
}

static void kill_all(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    for (size_t i = 0; i < SIM_CONTROLLERS; i++)
        kill_one(sim, i);
}

static void end_leader(struct sim *sim, const struct incident *incident)
{
    size_t i = leader_or(sim, any(incident));

    if (sim->controllers[i])
        controller_process_end(sim->controllers[i]);
}

static void pause_leader(struct sim *sim, const struct incident *incident)
{
    pause_one(sim, leader_or(sim, any(incident)), incident->duration_ms);
}

static void pause_any(struct sim *sim, const struct incident *incident)
{
    pause_one(sim, any(incident), incident->duration_ms);
}

/* The pause says when it ends. */
static void go_on(struct sim *sim, const struct incident *incident)
{
    (void)sim, (void)incident;
}

static const struct incident_kind rows[] = {
    {.name = "leader-killed", .begin = kill_leader, .bad = true},
    {.name = "leader-ended", .begin = end_leader},
    {.name = "controller-killed", .begin = kill_any, .bad = true},
    {.name = "controllers-killed", .begin = kill_all, .bad = true},
    {.name = "leader-paused",
     .begin = pause_leader,
     .end = go_on,
     .least_ms = 2 * 1000,
     .most_ms = 90 * 1000,
     .bad = true},
    {.name = "controller-paused",
     .begin = pause_any,
     .end = go_on,
     .least_ms = 2 * 1000,
     .most_ms = 90 * 1000,
     .bad = true},
};

const struct incident_table CONTROLLER_INCIDENTS = {rows, COUNT_OF(rows)};
