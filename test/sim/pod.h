/* pod.h - a pod of the simulated cluster, from its creation by a workload to its end.
 *
 * Pods belong to the world. One that is gone from the API server stays in world->former_pods: a
 * node that was cut off may still run it.
 */
#pragma once

#include "lib/base/list.h"
#include "test/sim/volume.h"

struct machine;
struct pod_worker;
struct workload;

enum { POD_VOLUMES = 4 };

struct pod {
    struct list link; /* world->pods, world->former_pods once it is gone */
    struct world *world;
    struct workload *workload;
    unsigned ordinal; /* which of its workload's */
    char *name;
    struct volume *volumes[POD_VOLUMES];
    size_t n_volumes;

    bool gated;          /* waits for the driver to propose a node (gate.h) */
    uint64_t held_until; /* by somebody else's gate; 0: it is not */

    int zone;                     /* its node selector; -1: none */
    const struct machine *avoids; /* where it is not to go this time; NULL: nothing */
    uint64_t toleration_ms;       /* of unreachable and not-ready nodes */

    struct machine *machine; /* where it was placed; NULL: nowhere yet */
    bool deleting;           /* has a deletionTimestamp */
    bool gone;               /* from the API server */
    bool runs;               /* its containers do, whatever the API server knows of it */
    uint64_t unplaced_since; /* no node suits since then; 0: one did, or was not looked for */
    const char *waits_for;   /* what it still needs to run; a literal */
    uint64_t created, running_since;
    struct pod_worker *worker; /* kubelet's; NULL: none */
};

struct pod *pod_new(struct workload *workload, unsigned ordinal, const char *name);
void pod_free(struct pod *pod);
bool pod_uses(const struct pod *pod, const struct volume *volume);
/* Binds it to a node, whose kubelet sees it from now on. */
void pod_place(struct pod *pod, struct machine *machine);
/* As `kubectl delete` does: what is not placed is gone at once. */
void pod_delete(struct pod *pod);
/* Out of the API server, by kubelet at its end or by force; the object only. */
void pod_remove(struct pod *pod);
/* The driver has, perhaps, deleted a pod. Must not write. */
void pod_see_gone(struct world *world, const char *name);
void pod_write_phase(struct pod *pod, const char *phase);
