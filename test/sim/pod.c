#include "test/sim/pod.h"

#include <string.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "test/sim/gate.h"
#include "test/sim/invariant.h"
#include "test/sim/kubelet.h"
#include "test/sim/workload.h"
#include "test/sim/world.h"

#define HOST_LABEL "kubernetes.io/hostname"
#define ZONE_LABEL "topology.kubernetes.io/zone"

/* ---- the object ---- */

static json_t *volumes_json(const struct pod *pod)
{
    json_t *list = json_array();

    for (size_t i = 0; i < pod->n_volumes; i++)
        json_array_append_new(list, json_pack("{s:s, s:{s:s}}", "name", pod->volumes[i]->claim,
                                              "persistentVolumeClaim", "claimName",
                                              pod->volumes[i]->claim));
    if (pod->workload->uses_share)
        json_array_append_new(list, json_pack("{s:s, s:{s:s}}", "name", "share",
                                              "persistentVolumeClaim", "claimName", "files"));
    return list;
}

static json_t *tolerations_json(const struct pod *pod)
{
    json_t *list = json_array();
    static const char *const keys[] = {"node.kubernetes.io/not-ready",
                                       "node.kubernetes.io/unreachable"};

    for (size_t i = 0; i < COUNT_OF(keys); i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:I}", "key", keys[i], "operator",
                                              "Exists", "effect", "NoExecute", "tolerationSeconds",
                                              (json_int_t)(pod->toleration_ms / 1000)));
    return list;
}

static json_t *anti_affinity_json(const struct workload *workload)
{
    return json_pack("{s:{s:[{s:{s:{s:s}}, s:s}]}}", "podAntiAffinity",
                     "requiredDuringSchedulingIgnoredDuringExecution", "labelSelector",
                     "matchLabels", "app", workload->name, "topologyKey", HOST_LABEL);
}

static json_t *pod_json(struct pod *pod)
{
    json_t *gates = gates_of_new_pod(pod);
    json_t *spec =
        json_pack("{s:o, s:o}", "volumes", volumes_json(pod), "tolerations", tolerations_json(pod));

    if (pod->zone >= 0) {
        CLEANUP(freep) char *zone = mem_printf("eastus-%d", pod->zone + 1);

        json_object_set_new(spec, "nodeSelector", json_pack("{s:s}", ZONE_LABEL, zone));
    }
    if (pod->workload->spread)
        json_object_set_new(spec, "affinity", anti_affinity_json(pod->workload));
    if (gates)
        json_object_set_new(spec, "schedulingGates", gates);
    bool asks = pod->workload->wish.by_label;
    return json_pack("{s:{s:s, s:{s:s, s:s*}}, s:o}", "metadata", "name", pod->name, "labels",
                     "app", pod->workload->name, LABEL_AUTOMATIC_FAILOVER, asks ? "true" : NULL,
                     "spec", spec);
}

void pod_write_phase(struct pod *pod, const char *phase)
{
    if (!pod->gone)
        world_patch(pod->world, &PODS, WORLD_POD_NAMESPACE, pod->name, "status",
                    json_pack("{s:{s:s}}", "status", "phase", phase));
}

/* ---- its life ---- */

struct pod *pod_new(struct workload *workload, unsigned ordinal, const char *name)
{
    struct world *world = workload->world;
    struct pod *pod = mem_alloc(sizeof *pod);

    *pod = (struct pod){
        .world = world,
        .workload = workload,
        .ordinal = ordinal,
        .name = mem_strdup(name),
        .zone = workload->zone,
        .avoids = workload->avoids[ordinal],
        .toleration_ms = workload->toleration_ms,
        .waits_for = "a node",
        .created = world_now(world),
    };
    workload->avoids[ordinal] = NULL;
    pod->n_volumes = workload_volumes(workload, ordinal, pod->volumes);
    list_append(&world->pods, &pod->link);
    world_create(world, &PODS, WORLD_POD_NAMESPACE, pod_json(pod));
    waiters_wake(&world->pods_changed);
    return pod;
}

void pod_free(struct pod *pod)
{
    free(pod->name);
    free(pod);
}

bool pod_uses(const struct pod *pod, const struct volume *volume)
{
    for (size_t i = 0; i < pod->n_volumes; i++)
        if (pod->volumes[i] == volume)
            return true;
    return false;
}

void pod_place(struct pod *pod, struct machine *machine)
{
    sim_note(pod->world->sim, "pod %s goes to %s", pod->name, machine->name);
    pod->machine = machine;
    pod->waits_for = "its kubelet";
    world_patch(pod->world, &PODS, WORLD_POD_NAMESPACE, pod->name, NULL,
                json_pack("{s:{s:s}}", "spec", "nodeName", machine->name));
    kubelet_start_pod(pod);
    attach_detach_poke(pod->world);
}

void pod_delete(struct pod *pod)
{
    if (pod->gone || pod->deleting)
        return;
    sim_note(pod->world->sim, "pod %s is deleted", pod->name);
    pod->deleting = true;
    if (!pod->machine) {
        pod_remove(pod);
        return;
    }
    world_delete(pod->world, &PODS, WORLD_POD_NAMESPACE, pod->name);
    waiters_wake(&pod->machine->changed);
    waiters_wake(&pod->world->pods_changed);
}

static void note_gone(struct pod *pod)
{
    list_remove(&pod->link);
    list_append(&pod->world->former_pods, &pod->link);
    if (pod->machine)
        waiters_wake(&pod->machine->changed);
    waiters_wake(&pod->world->pods_changed);
    attach_detach_poke(pod->world);
}

void pod_remove(struct pod *pod)
{
    if (pod->gone)
        return;
    sim_note(pod->world->sim, "pod %s is gone", pod->name);
    pod->deleting = pod->gone = true;
    err_free(kube_server_delete_now(pod->world->sim->kube, &PODS, WORLD_POD_NAMESPACE, pod->name));
    note_gone(pod);
}

void pod_see_gone(struct world *world, const char *name)
{
    LIST_FOREACH(&world->pods, link) {
        struct pod *pod = POD_OF(link);

        if (pod->gone || strcmp(pod->name, name) != 0)
            continue;
        sim_note(world->sim, "pod %s is deleted by the driver", name);
        pod->deleting = pod->gone = true;
        invariants_pod_ended(world->sim, pod);
        note_gone(pod);
        return;
    }
}
