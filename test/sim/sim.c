#include "test/sim/sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "test/azsim/model/model.h"
#include "test/sim/azure_side.h"
#include "test/sim/controller_process.h"
#include "test/sim/invariant.h"
#include "test/sim/liveness.h"
#include "test/sim/verdict.h"
#include "test/sim/world.h"

enum {
    RESTART_LOOK_MS = 1000,
    MAX_NOTES = 64 * 1024,
    LOOK_MS = 1000,
    PATIENCE_MS = 30 * 60 * 1000,    /* of the driver, with an operation that does not end */
    MOST_RUN_OUT_MS = 2 * 60 * 1000, /* a detach and an attach, one after the other, and to spare */
};

/* ---- notes ---- */

void sim_note(struct sim *sim, const char *format, ...)
{
    char **place = &sim->notes[sim->n_notes++ % SIM_NOTES];
    va_list args;

    va_start(args, format);
    CLEANUP(freep) char *text = mem_vprintf(format, args);
    va_end(args);
    free(*place);
    *place = mem_printf("%10.3f  %s", (double)loop_now(sim->loop) / 1000, text);
    if (sim->trace)
        printf("%s\n", *place);
}

static char *last_notes(const struct sim *sim)
{
    struct buffer text;
    size_t first = sim->n_notes > SIM_NOTES ? sim->n_notes - SIM_NOTES : 0;

    buffer_init(&text, MAX_NOTES);
    for (size_t i = first; i < sim->n_notes; i++)
        if (!buffer_append(&text, sim->notes[i % SIM_NOTES], strlen(sim->notes[i % SIM_NOTES])) ||
            !buffer_append(&text, "\n", 1))
            break;
    return buffer_take(&text);
}

void sim_choices(const struct incident *incident, struct random *ret)
{
    ret->state = incident->choice;
}

struct controller_process **sim_leader(struct sim *sim)
{
    for (size_t i = 0; i < SIM_CONTROLLERS; i++)
        if (sim->controllers[i] && controller_process_leads(sim->controllers[i]))
            return &sim->controllers[i];
    return NULL;
}

/* ---- controllers ---- */

struct controller_process *sim_any_controller(struct sim *sim)
{
    struct controller_process *found = NULL;
    unsigned n = 0;

    for (size_t i = 0; i < SIM_CONTROLLERS; i++) {
        struct controller_process *one = sim->controllers[i];

        if (one && controller_process_serves(one) && random_below(loop_random(sim->loop), ++n) == 0)
            found = one;
    }
    return found;
}

/* As a Deployment and a kubelet keep them running. Starting and ending runs another loop, which
 * needs this one's own stack. */
static void keep_controllers(void *arg)
{
    struct sim *sim = arg;

    for (size_t i = 0; i < sim->n_controllers; i++) {
        struct controller_process **one = &sim->controllers[i];
        char name[] = "controller-0";

        name[sizeof name - 2] = (char)('0' + i);
        if (!*one)
            *one = controller_process_start(sim, name);
        else if (controller_process_ended(*one))
            controller_process_kill(TAKE_PTR(*one));
    }
}

static void watch_controllers(struct task *self, void *arg)
{
    struct sim *sim = arg;
    struct err *err = NULL;

    while (!err) {
        loop_call(self, keep_controllers, sim);
        err = task_sleep(self, RESTART_LOOK_MS);
    }
    err_free(err);
}

/* ---- incidents ---- */

struct playing {
    struct sim *sim;
    const struct incident *incident;
    struct timer begin, end;
};

static void begin_incident(void *ctx)
{
    struct playing *playing = ctx;
    const struct incident *incident = playing->incident;

    sim_note(playing->sim, "incident %s, %.1f s", incident->kind->name,
             (double)incident->duration_ms / 1000);
    invariants_incident(playing->sim, incident);
    incident->kind->begin(playing->sim, incident);
}

static void end_incident(void *ctx)
{
    struct playing *playing = ctx;

    sim_note(playing->sim, "end of %s", playing->incident->kind->name);
    playing->incident->kind->end(playing->sim, playing->incident);
    invariants_incident_ended(playing->sim, playing->incident);
}

static struct playing *play(struct sim *sim, const struct sim_config *config)
{
    struct playing *all = mem_alloc((config->n_incidents + 1) * sizeof *all);

    for (size_t i = 0; i < config->n_incidents; i++) {
        const struct incident *incident = &config->incidents[i];
        uint64_t end = incident->at_ms + incident->duration_ms;

        if (incident->kind->bad && incident->at_ms >= config->quiet_ms)
            continue;
        if (incident->kind->bad && end > config->quiet_ms)
            end = config->quiet_ms;
        all[i] = (struct playing){.sim = sim, .incident = incident};
        loop_start_timer(sim->loop, &all[i].begin, incident->at_ms, begin_incident, &all[i]);
        if (incident->kind->end)
            loop_start_timer(sim->loop, &all[i].end, end, end_incident, &all[i]);
    }
    return all;
}

static void stop_playing(struct sim *sim, struct playing *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        loop_stop_timer(sim->loop, &all[i].begin);
        loop_stop_timer(sim->loop, &all[i].end);
    }
    free(all);
}

/* ---- a run ---- */

static bool after_step(void *ctx)
{
    struct sim *sim = ctx;

    sim->step++;
    return invariants_hold(sim->invariants);
}

static void begin(struct sim *sim, const struct sim_config *config, struct verdict *verdict)
{
    *sim = (struct sim){
        .seed = config->seed,
        .landscape = config->landscape,
        .loop = loop_new_virtual(config->seed * 2 + 1),
        .to_kube = {.least_ms = 1, .most_ms = 5},
        .to_azure = {.least_ms = 5, .most_ms = 20},
        .n_controllers = config->seed % 4 == 0 ? 3 : 2,
        .verdict = verdict,
        .trace = config->trace,
    };
    if (sim->landscape.failover) {
        sim->node_grace_ms = config->seed % 2 ? 14 * 1000 : 30 * 1000;
        sim->node_lease_s = config->seed % 2 ? 8 : 20;
    }
    *verdict = (struct verdict){0};
    clockwork_init(&sim->clockwork, sim->loop, config->seed);
    sim->clockwork.after_step = after_step;
    sim->clockwork.ctx = sim;
    group_init(&sim->tasks, sim->loop);
    sim->kube = kube_server_new(sim->loop);
    sim->azure_side = azure_side_new(sim->loop, &sim->landscape);
    sim->azure = sim->azure_side->model;
    sim->world = world_new(sim);
    sim->invariants = invariants_new(sim);
    group_spawn(&sim->tasks, "controllers", watch_controllers, sim);
}

/* Tasks end first, then what they use. */
static void close_tasks(struct task *self, void *arg)
{
    struct sim *sim = arg;

    group_close(self, &sim->tasks);
}

static void close_servers(struct task *self, void *arg)
{
    struct sim *sim = arg;

    azure_side_close(self, sim->azure_side);
    kube_server_close(self, sim->kube);
}

static void run_on_world(struct sim *sim, task_fn *fn)
{
    loop_spawn(sim->loop, "end", fn, sim);
    loop_advance(sim->loop, 0);
}

static void end(struct sim *sim)
{
    for (size_t i = 0; i < SIM_CONTROLLERS; i++)
        if (sim->controllers[i])
            controller_process_kill(TAKE_PTR(sim->controllers[i]));
    loop_advance(sim->loop, 0); /* their links close */
    run_on_world(sim, close_tasks);
    invariants_free(sim->invariants);
    world_free(sim->world);
    run_on_world(sim, close_servers);
    loop_free(sim->loop);
    for (size_t i = 0; i < SIM_NOTES; i++)
        free(sim->notes[i]);
}

/* One change in a thousand takes twelve minutes; two of them that wait for each other would be all
 * of the quiet part. What is slow happens before it. */
static void hurry_azure(struct sim *sim)
{
    if (latencies_set(&sim->azure->latencies, "attach=10s-30s,detach=8s-25s"))
        abort();
}

/* What began just before the end ends after it. */
static bool run_out(struct sim *sim)
{
    uint64_t limit = loop_now(sim->loop) + MOST_RUN_OUT_MS;

    while (liveness_is_moving(sim) && loop_now(sim->loop) < limit)
        if (!clockwork_run(&sim->clockwork, loop_now(sim->loop) + LOOK_MS))
            return false;
    return true;
}

static bool run(struct sim *sim, const struct sim_config *config)
{
    if (!clockwork_run(&sim->clockwork, config->quiet_ms))
        return false;
    hurry_azure(sim);
    uint64_t patience = sim->something_endless ? PATIENCE_MS : 0;
    return clockwork_run(&sim->clockwork, config->finish_ms + patience) && run_out(sim) &&
           liveness_holds(sim);
}

bool sim_run(const struct sim_config *config, struct verdict *ret)
{
    struct sim sim;

    begin(&sim, config, ret);
    struct playing *playing = play(&sim, config);
    bool good = run(&sim, config);
    if (!good)
        ret->notes = last_notes(&sim);
    stop_playing(&sim, playing, config->n_incidents);
    end(&sim);
    return good;
}
