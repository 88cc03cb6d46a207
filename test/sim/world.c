#include "test/sim/world.h"

#include <string.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "test/sim/attacher_sync.h"
#include "test/sim/gate.h"
#include "test/sim/node_fence.h"
#include "test/sim/node_lease.h"
#include "test/sim/node_lifecycle.h"
#include "test/sim/node_repair.h"
#include "test/sim/scheduler.h"
#include "test/sim/workload.h"

enum { FIRST_MACHINES = 6, MORE_MACHINES = 4, FIRST_WORKLOADS = 2, MORE_WORKLOADS = 2 };

uint64_t world_now(const struct world *world)
{
    return loop_now(world->sim->loop);
}

void world_look_around(struct task *self, struct world *world, uint64_t period_ms,
                       void (*look_at_machine)(struct machine *machine),
                       void (*look_at_pod)(struct pod *pod))
{
    struct err *err = NULL;

    while (!err) {
        LIST_FOREACH(&world->machines, link)
            look_at_machine(MACHINE_OF(link));
        LIST_FOREACH(&world->pods, link)
            look_at_pod(POD_OF(link));
        err = task_sleep(self, period_ms);
    }
    err_free(err);
}

bool world_wait_for_pods(struct task *self, struct world *world, uint64_t look_ms,
                         uint64_t delay_ms)
{
    struct err *err = wait_for_change(self, &world->pods_changed, world_now(world) + look_ms);

    if (err && err_kind(err) == ERR_TIMEOUT)
        err_free(TAKE_PTR(err));
    if (!err)
        err = task_sleep(self, delay_ms);
    bool goes_on = !err;
    err_free(err);
    return goes_on;
}

uint64_t world_draw(struct world *world, uint64_t least, uint64_t most)
{
    return least + random_below(loop_random(world->sim->loop), most - least + 1);
}

bool world_chance(struct world *world, unsigned percent)
{
    return random_below(loop_random(world->sim->loop), 100) < percent;
}

/* ---- objects ---- */

/* Somebody else may have made it, or deleted it, by hand. */
static void bear(struct world *world, const char *what, const struct api_resource *resource,
                 struct err *err)
{
    if (err && err_kind(err) != ERR_NOT_FOUND && err_kind(err) != ERR_EXISTS)
        sim_note(world->sim, "world: cannot %s a %s: %s", what, resource->kind, err_message(err));
    err_free(err);
}

void world_create(struct world *world, const struct api_resource *resource, const char *namespace_,
                  json_t *object)
{
    bear(world, "create", resource,
         kube_server_create(world->sim->kube, resource, namespace_, object));
    json_decref(object);
}

void world_patch(struct world *world, const struct api_resource *resource, const char *namespace_,
                 const char *name, const char *subresource, json_t *patch)
{
    bear(world, "patch", resource,
         kube_server_patch(world->sim->kube, resource, namespace_, name, subresource, patch));
    json_decref(patch);
}

void world_delete(struct world *world, const struct api_resource *resource, const char *namespace_,
                  const char *name)
{
    bear(world, "delete", resource,
         kube_server_delete(world->sim->kube, resource, namespace_, name));
}

static const char *node_of(const json_t *object)
{
    const json_t *spec = json_object_get(object, "spec");

    return json_string_value(json_object_get(spec, "nodeName"));
}

static const char *name_of(const json_t *object)
{
    return json_string_value(json_object_get(json_object_get(object, "metadata"), "name"));
}

static const json_t *request_in(const json_t *attachment)
{
    const json_t *notes = json_object_get(json_object_get(attachment, "status"), "annotation");

    return json_object_get(notes, ANNOTATION_PREEMPT_REQUEST);
}

/* What the driver says of a node concerns its kubelet and its plug-in. */
static void see_attachment(struct world *world, const json_t *before, const json_t *after)
{
    const char *node = node_of(after ? after : before);
    struct machine *machine = node ? machine_find(world, node) : NULL;
    const json_t *request = request_in(after);

    if (!machine)
        return;
    machine_heard(machine);
    if (after) {
        node_fence_heard(machine, after);
        node_lease_heard(machine);
    }
    if (!request || json_equal(request, request_in(before)))
        return;
    sim_note(world->sim, "%s is asked to preempt %s", node, json_string_value(request));
    world->questions++;
    world->asked = machine;
}

static void on_change(void *ctx, const struct api_resource *resource, const json_t *before,
                      const json_t *after)
{
    struct world *world = ctx;

    if (resource == &AZ_VOLUME_ATTACHMENTS)
        see_attachment(world, before, after);
    if (resource == &PODS && !after)
        pod_see_gone(world, name_of(before));
    if (resource == &PODS && after && world->sim->landscape.gates)
        gates_see(world, after);
    if (resource != &NODES)
        return;
    struct machine *machine = machine_find(world, name_of(after ? after : before));
    if (machine)
        machine_see_node(machine, after);
}

/* ---- life ---- */

static void make_machines(struct world *world)
{
    unsigned n = (unsigned)world_draw(world, FIRST_MACHINES, FIRST_MACHINES + MORE_MACHINES);

    for (unsigned i = 0; i < n; i++)
        world_add_machine(world, i % WORLD_ZONES);
}

struct machine *world_add_machine(struct world *world, unsigned zone)
{
    return machine_new(world, world->machines_made++, zone);
}

struct world *world_new(struct sim *sim)
{
    struct world *world = mem_alloc(sizeof *world);

    world->sim = sim;
    list_init(&world->machines);
    list_init(&world->volumes);
    list_init(&world->snapshots);
    list_init(&world->publications);
    list_init(&world->workloads);
    list_init(&world->pods);
    list_init(&world->former_pods);
    waiters_init(&world->pods_changed);
    waiters_init(&world->wants_changed);
    kube_server_observe(sim->kube, on_change, world);
    world_create(world, &NAMESPACES, NULL,
                 json_pack("{s:{s:s}}", "metadata", "name", "kube-system"));
    make_machines(world);
    group_spawn(&sim->tasks, "scheduler", scheduler_run, world);
    group_spawn(&sim->tasks, "attach/detach", attach_detach_run, world);
    group_spawn(&sim->tasks, "attacher's sync", attacher_sync_run, world);
    group_spawn(&sim->tasks, "node lifecycle", node_lifecycle_run, world);
    group_spawn(&sim->tasks, "workloads", workloads_run, world);
    if (sim->landscape.failover)
        group_spawn(&sim->tasks, "repair", node_repair_run, world);
    if (sim->landscape.gates)
        group_spawn(&sim->tasks, "gates", gates_run, world);
    if (sim->landscape.proposals_refused)
        kube_server_behaviour(sim->kube)->denied_status = &PODS;
    for (uint64_t n = world_draw(world, FIRST_WORKLOADS, FIRST_WORKLOADS + MORE_WORKLOADS); n; n--)
        workload_draw(world, loop_random(sim->loop));
    return world;
}

void world_free(struct world *world)
{
    LIST_FOREACH(&world->publications, link)
        publication_free(PUBLICATION_OF(link));
    LIST_FOREACH(&world->pods, link)
        pod_free(POD_OF(link));
    LIST_FOREACH(&world->former_pods, link)
        pod_free(POD_OF(link));
    LIST_FOREACH(&world->workloads, link)
        workload_free(WORKLOAD_OF(link));
    LIST_FOREACH(&world->machines, link)
        machine_free(MACHINE_OF(link));
    LIST_FOREACH(&world->snapshots, link)
        volume_snapshot_free(SNAPSHOT_OF(link));
    LIST_FOREACH(&world->volumes, link)
        volume_free(VOLUME_OF(link));
    disk_keys_fini(&world->disk_keys);
    free(world);
}

/* ---- what is waited for ---- */

/* Of the last ControllerPublishVolume of one of its volumes; "" if none has failed. */
static const char *publish_error(const struct pod *pod)
{
    for (size_t i = 0; pod->machine && i < pod->n_volumes; i++) {
        const struct publication *found = publication_find(pod->machine, pod->volumes[i]);

        if (found && found->error)
            return found->error;
    }
    return "";
}

static char *unsettled_pod(const struct world *world)
{
    LIST_FOREACH(&world->pods, link) {
        const struct pod *pod = POD_OF(link);

        if (pod->deleting)
            return mem_printf("pod %s on %s is being deleted", pod->name,
                              pod->machine ? pod->machine->name : "no node");
        if (!pod->runs)
            return mem_printf("pod %s on %s waits for %s: %s", pod->name,
                              pod->machine ? pod->machine->name : "no node", pod->waits_for,
                              publish_error(pod));
    }
    return NULL;
}

static char *unsettled_volume(const struct world *world)
{
    LIST_FOREACH(&world->publications, link) {
        const struct publication *publication = PUBLICATION_OF(link);

        if (publication->deleting || publication->unused_since)
            return mem_printf("volume %s is to be unpublished from %s: %s", publication->volume->pv,
                              publication->machine->name,
                              publication->error ? publication->error : "no error yet");
    }
    LIST_FOREACH(&world->volumes, link) {
        const struct volume *volume = VOLUME_OF(link);

        if (!volume_is_settled(volume))
            return mem_printf("volume %s is to be %s: %s", volume->pv,
                              volume->delete_wanted ? "deleted" : "created",
                              volume->error ? volume->error : "no error yet");
    }
    return NULL;
}

static char *unsettled_snapshot(const struct world *world)
{
    LIST_FOREACH(&world->snapshots, link) {
        const struct volume_snapshot *snapshot = SNAPSHOT_OF(link);

        if (!volume_snapshot_is_settled(snapshot))
            return mem_printf("%s is to be %s: %s", snapshot->name,
                              snapshot->delete_wanted ? "deleted" : "ready",
                              snapshot->error ? snapshot->error : "no error yet");
    }
    return NULL;
}

bool world_is_settled(struct sim *sim, char **ret_why)
{
    char *why = workloads_unsettled(sim->world);

    if (!why)
        why = unsettled_pod(sim->world);
    if (!why)
        why = unsettled_volume(sim->world);
    if (!why)
        why = unsettled_snapshot(sim->world);
    *ret_why = why;
    return !why;
}
