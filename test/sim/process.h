/* process.h - a process of its own in a simulated cluster: a virtual loop that can stand still and
 * die, and the clockwork that moves all of them on together.
 *
 * The world has a loop too, whose time is the time of all: servers, nodes, kubelets and incidents
 * live on it. Everything runs on one thread, so a task of one loop may wake a task of another. A
 * process's clock is ahead of the world's by its skew. One that stands still finds its clock moved
 * when it goes on, as after SIGSTOP.
 */
#pragma once

#include "lib/base/list.h"
#include "lib/rt/loop.h"

struct clockwork {
    struct loop *world;
    struct list processes;
    struct random random; /* who goes first of those that are ready at the same time */
    /* Called after each step: what could be done at one moment by one loop. False ends the run. */
    bool (*after_step)(void *ctx);
    void *ctx;
};

struct process {
    struct list link;
    struct clockwork *clockwork;
    struct loop *loop;
    uint64_t skew;    /* its clock minus the world's */
    uint64_t resumes; /* world's time until which it stands still; 0: it runs */
};

void clockwork_init(struct clockwork *clockwork, struct loop *world, uint64_t seed);
/* Moves everything on to the world's time `until`; false if after_step ended it before. */
bool clockwork_run(struct clockwork *clockwork, uint64_t until);

/* A process that starts now; its loop's seed follows from the clockwork's. */
void process_start(struct process *process, struct clockwork *clockwork, uint64_t skew);
/* Stands still for `ms` from now. */
void process_pause(struct process *process, uint64_t ms);
/* Takes it out of the clockwork. Its loop stays, for process_reap. */
void process_stop(struct process *process);
/* Runs the loop of a stopped process until all of its tasks have ended, and frees it. They must
 * have been told to end, and reach nobody. */
void process_reap(struct process *process);
