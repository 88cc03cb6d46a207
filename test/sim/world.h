/* world.h - the cluster around the driver: machines, kubelets, the attach/detach controller with
 * external-attacher, external-provisioner, the scheduler, workloads and their pods.
 *
 * All of it is tasks and timers of the sim's loop, and draws what it chooses from there. What is
 * true is in structs; the driver sees what is written of them to the API server.
 */
#pragma once

#include "lib/api/resources.h"
#include "test/sim/attach_detach.h"
#include "test/sim/disk_keys.h"
#include "test/sim/machine.h"
#include "test/sim/mount.h"
#include "test/sim/pod.h"
#include "test/sim/sim.h"
#include "test/sim/snapshotter.h"
#include "test/sim/volume.h"

#define WORLD_NAMESPACE "azure-disk-csi" /* of the driver's objects */
#define WORLD_DRIVER "disk.csi.azure.com"
#define WORLD_POD_NAMESPACE "default"

/* Machines at a time, and ever made. */
enum { WORLD_MACHINES = 12, WORLD_MOST_MACHINES = 1000, WORLD_VOLUMES = 30, MACHINE_SLOTS = 8 };

struct world {
    struct sim *sim;
    struct list machines, volumes, snapshots, publications, workloads;
    struct list pods, former_pods;
    bool records_lost;     /* somebody has deleted AzVolumes */
    bool finalizers_taken; /* somebody takes them from VolumeAttachments that are deleted */
    unsigned machines_made, workloads_made, pods_made, copies_drawn;
    struct waiters pods_changed;  /* for the scheduler */
    struct waiters wants_changed; /* for the attach/detach controller */
    struct all_disk_keys disk_keys;
    unsigned questions;          /* ever asked, to preempt a silent node's key */
    const struct machine *asked; /* by the last of them */
    uint64_t started, scaled_up; /* loop_now: the autoscaler added a machine for pods last */
};

/* Makes a first cluster with some work on it, and starts all that runs in it. */
struct world *world_new(struct sim *sim);
/* After sim->tasks was closed. */
void world_free(struct world *world);

/* Whether every pod that should be there runs, and every deletion has come to its end. If not, what
 * is waited for, the caller's. */
bool world_is_settled(struct sim *sim, char **ret_why);

/* One more machine, as the autoscaler adds it. */
struct machine *world_add_machine(struct world *world, unsigned zone);

uint64_t world_now(const struct world *world);
/* Looks at every machine and every pod once in each period, until the task is cancelled. */
void world_look_around(struct task *self, struct world *world, uint64_t period_ms,
                       void (*look_at_machine)(struct machine *machine),
                       void (*look_at_pod)(struct pod *pod));
/* Until pods have changed, at most `look_ms`, and `delay_ms` more, as whoever acts on them takes a
 * while to; false if the task is to end. */
bool world_wait_for_pods(struct task *self, struct world *world, uint64_t look_ms,
                         uint64_t delay_ms);
/* A draw between two bounds, both included. */
uint64_t world_draw(struct world *world, uint64_t least, uint64_t most);
bool world_chance(struct world *world, unsigned percent);

/* ---- objects; each takes the JSON and bears that others were faster ---- */

void world_create(struct world *world, const struct api_resource *resource, const char *namespace_,
                  json_t *object);
void world_patch(struct world *world, const struct api_resource *resource, const char *namespace_,
                 const char *name, const char *subresource, json_t *patch);
void world_delete(struct world *world, const struct api_resource *resource, const char *namespace_,
                  const char *name);

#define POD_OF(item) CONTAINER_OF(item, struct pod, link)
#define SNAPSHOT_OF(item) CONTAINER_OF(item, struct volume_snapshot, link)
#define VOLUME_OF(item) CONTAINER_OF(item, struct volume, link)
