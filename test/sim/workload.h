/* workload.h - what people run: StatefulSets and Deployments whose pods have volumes.
 *
 * A StatefulSet makes a pod anew, under its name, when the old one is gone from the API server; a
 * Deployment makes another one as soon as the old one is being deleted. Claims belong to a place in
 * the workload and outlive pods. A block workload's pods share their volumes.
 */
#pragma once

#include "lib/rt/random.h"
#include "test/sim/pod.h"

enum { WORKLOAD_PODS = 4 };

struct workload {
    struct list link; /* world->workloads */
    struct world *world;
    char *name;
    bool stateful; /* else a Deployment */
    bool spread;   /* no two pods on one node */
    int zone;      /* node selector; -1: none */
    uint64_t toleration_ms;
    unsigned replicas; /* pods that should be there */
    unsigned volumes_per_pod;
    struct volume_wish wish;
    struct volume *volumes[WORKLOAD_PODS * POD_VOLUMES]; /* of the claims that were made */
    const struct machine *avoids[WORKLOAD_PODS]; /* where the next pod in a place is not to go */
    bool uses_share;   /* each pod another driver's volume, besides (other_driver.h) */
    bool copies;       /* its volumes are made of snapshots and of other volumes */
    unsigned given_up; /* of these: those that could not be made */
    bool deleted, with_claims;
};

#define WORKLOAD_OF(item) CONTAINER_OF(item, struct workload, link)

/* Some workload; NULL if the cluster has enough to do. */
struct workload *workload_draw(struct world *world, struct random *random);
/* One whose pods share a block volume on several nodes. */
struct workload *workload_draw_block(struct world *world, struct random *random);
void workload_free(struct workload *workload);
void workload_scale(struct workload *workload, unsigned replicas);
void workload_delete(struct workload *workload, bool with_claims);
/* The volumes of its pod in a place; makes claims that are missing. */
size_t workload_volumes(struct workload *workload, unsigned ordinal,
                        struct volume *ret[POD_VOLUMES]);
bool workload_has(const struct workload *workload, const struct volume *volume);
/* The volume cannot be made: its claim goes, and pods get another one, of something else. */
void workload_give_up(const struct world *world, struct volume *volume);
/* One that is not deleted, drawn; NULL if there is none. */
struct workload *workload_any(struct world *world, struct random *random);
/* A pod of it, drawn among those that run; NULL likewise. */
struct pod *workload_any_pod(const struct workload *workload, struct random *random);

/* The controllers of workloads, a task of the sim; `arg` is the world. */
void workloads_run(struct task *self, void *arg);
/* What is not as it should be, the caller's; NULL if all is. */
char *workloads_unsettled(const struct world *world);
