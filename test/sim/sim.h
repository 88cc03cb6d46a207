/* sim.h - one simulated cluster: its clock, its servers, its controllers, its world, and the
 * incidents that happen to it. A seed decides everything.
 *
 * Everything that takes part finds the others here. What is true is read from the servers
 * themselves, at no cost of time: `kube` for objects, `azure` for what is attached, `world` for
 * what nodes have mounted.
 */
#pragma once

#include "lib/rt/group.h"
#include "test/azsim/arm/arm.h"
#include "test/sim/incident.h"
#include "test/sim/kube/server.h"
#include "test/sim/landscape.h"
#include "test/sim/network_link.h"
#include "test/sim/process.h"

struct azure_side;
struct controller_process;
struct invariants;
struct world;
struct verdict;

enum { SIM_CONTROLLERS = 3, SIM_NOTES = 200 };

struct sim {
    uint64_t seed;
    struct landscape landscape;
    struct loop *loop; /* the world's; loop_random(loop) is where the world's choices come from */
    struct clockwork clockwork;
    struct task_group tasks; /* of the world */

    struct kube_server *kube;
    struct azure_side *azure_side;
    struct model *azure;
    struct network_conditions to_kube, to_azure;
    bool something_endless; /* an operation of Azure that nothing but another one ends */

    struct controller_process *controllers[SIM_CONTROLLERS]; /* NULL: not running now */
    uint64_t node_grace_ms;                                  /* --node-grace-period; 0: none */
    unsigned node_lease_s;                                   /* --node-lease-duration */
    size_t n_controllers; /* that a Deployment keeps running: two as installed, or three */
    struct world *world;
    struct verdict *verdict;       /* verdict.h */
    struct invariants *invariants; /* invariant.h; made when all else is, called after each step */
    uint64_t step;                 /* of the clockwork */

    bool trace;
    char *notes[SIM_NOTES]; /* a ring */
    size_t n_notes;         /* ever made */
};

/* A run of a scenario from its beginning to its end, or to the first violation. */
struct sim_config {
    uint64_t seed;
    struct landscape landscape;
    const struct incident *incidents; /* in the order of their times */
    size_t n_incidents;
    uint64_t quiet_ms;  /* from then on nothing bad happens */
    uint64_t finish_ms; /* the end, by which all wishes must have been met */
    bool trace;         /* print what happens */
};

/* Whether all held; the verdict says what did not. */
bool sim_run(const struct sim_config *config, struct verdict *ret);

/* One of the controllers that serve CSI now, by chance; NULL if none does. */
struct controller_process *sim_any_controller(struct sim *sim);
/* Of a random stream of the incident's own. */
void sim_choices(const struct incident *incident, struct random *ret);
/* The place of the controller that believes that it leads; NULL if none does. */
struct controller_process **sim_leader(struct sim *sim);

/* A line of the trace, with the time; nothing unless it is wanted. The last lines are kept for the
 * verdict. */
void sim_note(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
