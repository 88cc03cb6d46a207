#include "test/sim/node_objects.h"

#include <string.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "lib/base/timestamp.h"
#include "lib/kube/node.h"
#include "test/azsim/model/vm.h"
#include "test/sim/coverage.h"
#include "test/sim/kube/kinds.h"
#include "test/sim/other_driver.h"
#include "test/sim/world.h"

#define LEASES_NAMESPACE "kube-node-lease"
#define GIVEN_UP "azuredisk-"        /* then a boot id: the driver's own taint */
#define STAND_IN GIVEN_UP "deleted-" /* likewise, in place of a Node that was deleted */
#define REGISTERED "volumes.kubernetes.io/controller-managed-attach-detach"

static void format_now(const struct machine *machine, char text[TIMESTAMP_SIZE])
{
    timestamp_format(loop_wall_us(machine->world->sim->loop), text);
}

/* ---- Node ---- */

static json_t *taint(const char *key, const char *effect)
{
    return json_pack("{s:s, s:s}", "key", key, "effect", effect);
}

static void write_spec(struct machine *machine)
{
    json_t *taints = json_array();

    if (machine->cordoned)
        json_array_append_new(taints, taint("node.kubernetes.io/unschedulable", "NoSchedule"));
    if (!machine->ready) {
        json_array_append_new(taints, taint("node.kubernetes.io/unreachable", "NoSchedule"));
        json_array_append_new(taints, taint("node.kubernetes.io/unreachable", "NoExecute"));
    }
    if (machine->out_of_service)
        json_array_append_new(taints, taint(TAINT_OUT_OF_SERVICE, "NoExecute"));
    if (machine->given_up)
        json_array_append_new(
            taints, json_pack("{s:s, s:o, s:s}", "key", TAINT_OUT_OF_SERVICE, "value",
                              json_sprintf("%s%s", machine->stood_in_for ? STAND_IN : GIVEN_UP,
                                           machine->given_up),
                              "effect", "NoExecute"));
    if (machine->moved)
        json_array_append_new(taints, json_pack("{s:s, s:s, s:s}", "key", TAINT_FAILED_OVER,
                                                "value", machine->moved, "effect", "NoSchedule"));
    world_patch(machine->world, &NODES, NULL, machine->name, NULL,
                json_pack("{s:{s:b, s:o}}", "spec", "unschedulable", (int)machine->cordoned,
                          "taints", taints));
}

static void write_ready(struct machine *machine)
{
    char now[TIMESTAMP_SIZE];

    format_now(machine, now);
    world_patch(machine->world, &NODES, NULL, machine->name, "status",
                json_pack("{s:{s:[{s:s, s:s, s:s}]}}", "status", "conditions", "type", "Ready",
                          "status", machine->ready ? "True" : "Unknown", "lastTransitionTime",
                          now));
    write_spec(machine);
    waiters_wake(&machine->world->pods_changed);
}

static json_t *node_json(const struct machine *machine)
{
    const struct vm *vm = machine_vm(machine);
    CLEANUP(freep) char *zone = mem_printf("eastus-%u", machine->zone + 1);
    CLEANUP(freep) char *provider_id = mem_printf("azure://%s", vm ? vm->id : "");
    bool known = !machine->world->sim->landscape.no_provider_ids;

    return json_pack("{s:{s:s, s:{s:s, s:s, s:s, s:s, s:s}}, s:{s:s*}}", "metadata", "name",
                     machine->name, "labels", "kubernetes.io/hostname", machine->name,
                     "kubernetes.io/arch", "amd64", "topology.kubernetes.io/region", "eastus",
                     "topology.kubernetes.io/zone", zone, "topology.disk.csi.azure.com/zone", zone,
                     "spec", "providerID", known ? provider_id : NULL);
}

static json_t *csi_node_json(const struct machine *machine)
{
    return json_pack("{s:{s:s}, s:{s:[{s:s, s:s, s:[s], s:{s:i}}]}}", "metadata", "name",
                     machine->name, "spec", "drivers", "name", WORLD_DRIVER, "nodeID",
                     machine->name, "topologyKeys", "topology.disk.csi.azure.com/zone",
                     "allocatable", "count", MACHINE_SLOTS);
}

/* Kubelet finds the Node that the driver has made; the cloud's node manager sets what it lacks. */
static void adopt_stand_in(struct machine *machine)
{
    CLEANUP(json_decrefp) json_t *own = node_json(machine);

    sim_note(machine->world->sim, "%s registers with the Node that stands in for its own",
             machine->name);
    coverage_count("failover", "stand-in", "registered");
    world_patch(machine->world, &NODES, NULL, machine->name, NULL,
                json_pack("{s:{s:{s:s}}, s:O}", "metadata", "annotations", REGISTERED, "true",
                          "spec", json_object_get(own, "spec")));
}

void node_register(struct machine *machine)
{
    machine->registered = machine->ready = true;
    machine->registered_since = world_now(machine->world);
    machine->cordoned = machine->out_of_service = false;
    if (kube_server_get(machine->world->sim->kube, &NODES, NULL, machine->name))
        adopt_stand_in(machine);
    else
        world_create(machine->world, &NODES, NULL, node_json(machine));
    world_create(machine->world, &CSI_NODES, NULL, csi_node_json(machine));
    write_ready(machine);
    machine_report_in_use(machine);
    other_driver_register(machine);
}

void node_report_boot(struct machine *machine)
{
    CLEANUP(freep) char *boot_id = machine_boot_id(machine);

    world_patch(machine->world, &NODES, NULL, machine->name, "status",
                json_pack("{s:{s:{s:s}}}", "status", "nodeInfo", "bootID", boot_id));
}

void machine_unregister(struct machine *machine)
{
    if (!machine->registered)
        return;
    sim_note(machine->world->sim, "Node %s is deleted", machine->name);
    machine->registered = machine->ready = false;
    machine->unready_since = world_now(machine->world);
    world_delete(machine->world, &NODES, NULL, machine->name);
    world_delete(machine->world, &CSI_NODES, NULL, machine->name);
    world_delete(machine->world, &LEASES, LEASES_NAMESPACE, machine->name);
    waiters_wake(&machine->world->pods_changed);
    attach_detach_poke(machine->world);
}

void machine_mark_unready(struct machine *machine)
{
    sim_note(machine->world->sim, "%s is not ready", machine->name);
    machine->ready = false;
    machine->unready_since = world_now(machine->world);
    write_ready(machine);
}

void machine_cordon(struct machine *machine, bool cordoned)
{
    if (machine->cordoned == cordoned || !machine->registered)
        return;
    sim_note(machine->world->sim, "%s is %s", machine->name, cordoned ? "cordoned" : "uncordoned");
    machine->cordoned = cordoned;
    write_spec(machine);
    waiters_wake(&machine->world->pods_changed);
}

void machine_set_out_of_service(struct machine *machine, bool out_of_service)
{
    if (machine->out_of_service == out_of_service || !machine->registered ||
        (out_of_service && machine->given_up)) /* one taint of that key is all that there can be */
        return;
    sim_note(machine->world->sim, "%s is %s service", machine->name,
             out_of_service ? "out of" : "back in");
    machine->out_of_service = out_of_service;
    write_spec(machine);
    attach_detach_poke(machine->world);
}

bool machine_is_out_of_service(const struct machine *machine)
{
    return machine->out_of_service || machine->given_up;
}

/* The value of a taint of that key which begins so; NULL: there is none. */
static const char *value_of_taint(const json_t *node, const char *wanted, const char *prefix)
{
    const json_t *taints = json_object_get(json_object_get(node, "spec"), "taints");

    for (size_t i = 0; i < json_array_size(taints); i++) {
        const json_t *one = json_array_get(taints, i);
        const char *key = json_string_value(json_object_get(one, "key"));
        const char *value = json_string_value(json_object_get(one, "value"));

        if (strcmp(key, wanted) == 0 && value && strncmp(value, prefix, strlen(prefix)) == 0)
            return value;
    }
    return NULL;
}

bool node_is_stand_in(const json_t *node)
{
    const char *value = value_of_taint(node, TAINT_OUT_OF_SERVICE, GIVEN_UP);

    return value && strncmp(value, STAND_IN, strlen(STAND_IN)) == 0;
}

const char *node_given_up(const json_t *node)
{
    const char *value = value_of_taint(node, TAINT_OUT_OF_SERVICE, GIVEN_UP);

    return value ? value + strlen(node_is_stand_in(node) ? STAND_IN : GIVEN_UP) : NULL;
}

static void see_moved(struct machine *machine, const json_t *node)
{
    const char *boot = value_of_taint(node, TAINT_FAILED_OVER, "");

    if (same_text(machine->moved, boot))
        return;
    sim_note(machine->world->sim, "the driver %s %s", boot ? "moves pods from" : "takes back",
             machine->name);
    free(machine->moved);
    machine->moved = mem_strdup(boot);
    machine->given_up_at = world_now(machine->world);
    waiters_wake(&machine->world->pods_changed);
}

bool node_has_in_use(const json_t *node, const struct volume *volume)
{
    const json_t *in_use = json_object_get(json_object_get(node, "status"), "volumesInUse");
    CLEANUP(freep) char *name = mem_printf("kubernetes.io/csi/" WORLD_DRIVER "^%s", volume->handle);

    for (size_t i = 0; i < json_array_size(in_use); i++)
        if (strcmp(json_string_value(json_array_get(in_use, i)), name) == 0)
            return true;
    return false;
}

/* Kubernetes does not know who has written it. A Node that kubelet has not written to says nothing.
 */
static void see_in_use(struct machine *machine, const json_t *node)
{
    size_t kept = 0;

    if (!json_object_get(json_object_get(node, "status"), "volumesInUse"))
        return;
    for (size_t i = 0; i < machine->n_in_use; i++)
        if (node_has_in_use(node, machine->in_use[i]))
            machine->in_use[kept++] = machine->in_use[i];
    if (kept < machine->n_in_use)
        attach_detach_poke(machine->world);
    machine->n_in_use = kept;
}

void machine_see_node(struct machine *machine, const json_t *node)
{
    const char *boot = node_given_up(node);

    see_moved(machine, node);
    see_in_use(machine, node);
    if (machine->given_up ? boot && strcmp(machine->given_up, boot) == 0 : !boot)
        return;
    sim_note(machine->world->sim, "%s is %s by the driver", machine->name,
             boot ? "given up" : "taken back");
    free(machine->given_up);
    machine->given_up = mem_strdup(boot);
    machine->stood_in_for = node_is_stand_in(node);
    machine->given_up_at = world_now(machine->world);
    waiters_wake(&machine->world->pods_changed);
    attach_detach_poke(machine->world);
}

void node_write_attached(struct machine *machine)
{
    json_t *names = json_array();

    LIST_FOREACH(&machine->publications, link) {
        const struct publication *publication = PUBLICATION_ON(link);
        CLEANUP(freep)
        char *name =
            mem_printf("kubernetes.io/csi/" WORLD_DRIVER "^%s", publication->volume->handle);

        if (publication->reported)
            json_array_append_new(names, json_pack("{s:s, s:s}", "name", name, "devicePath", ""));
    }
    if (machine->registered)
        world_patch(machine->world, &NODES, NULL, machine->name, "status",
                    json_pack("{s:{s:O}}", "status", "volumesAttached", names));
    json_decref(names);
    waiters_wake(&machine->changed);
}

/* ---- heartbeats ---- */

static bool holds_place(const json_t *attachment, const char *node)
{
    const json_t *spec = json_object_get(attachment, "spec");
    const char *name = json_string_value(json_object_get(spec, "nodeName"));

    if (!name || strcmp(name, node) != 0)
        return false;
    const json_t *status = json_object_get(attachment, "status");
    const char *state = json_string_value(json_object_get(status, "state"));
    return !state || strcmp(state, STATE_DETACHED) != 0;
}

int node_count_free_slots(const struct machine *machine)
{
    const struct kube_server *server = machine->world->sim->kube;
    const json_t *object =
        kube_server_get(server, &AZ_DRIVER_NODES, WORLD_NAMESPACE, machine->name);
    const json_t *slots = json_object_get(json_object_get(object, "status"), "slots");
    const json_t *limit = json_object_get(slots, "limit");
    int free = (int)json_integer_value(limit);

    if (!limit)
        return -1;
    for (size_t i = 0; i < kube_server_count(server, &AZ_VOLUME_ATTACHMENTS); i++)
        free -= holds_place(kube_server_at(server, &AZ_VOLUME_ATTACHMENTS, i), machine->name);
    return free > 0 ? free : 0;
}

bool node_has_news(const struct machine *machine)
{
    return !machine->plugin_told || node_count_free_slots(machine) != machine->free_slots;
}

static void renew_lease(struct machine *machine)
{
    struct world *world = machine->world;
    char now[TIMESTAMP_SIZE];
    json_t *spec;

    timestamp_format_micro(loop_wall_us(world->sim->loop), now);
    spec = json_pack("{s:s, s:i, s:s}", "holderIdentity", machine->name, "leaseDurationSeconds", 40,
                     "renewTime", now);
    if (kube_server_get(world->sim->kube, &LEASES, LEASES_NAMESPACE, machine->name))
        world_patch(world, &LEASES, LEASES_NAMESPACE, machine->name, NULL,
                    json_pack("{s:o}", "spec", spec));
    else
        world_create(world, &LEASES, LEASES_NAMESPACE,
                     json_pack("{s:{s:s}, s:o}", "metadata", "name", machine->name, "spec", spec));
}

static void write_heartbeat(struct machine *machine)
{
    struct world *world = machine->world;
    const char *name = machine->name;
    CLEANUP(freep) char *boot_id = machine_boot_id(machine);
    char now[TIMESTAMP_SIZE];

    format_now(machine, now);
    json_t *status = json_pack(
        "{s:s, s:b, s:s, s:s, s:[{s:s, s:s, s:s, s:s, s:s}]}", "lastHeartbeatTime", now,
        "readyForVolumeAllocation", 1, "statusMessage", "Driver node healthy.", "bootId", boot_id,
        "conditions", "type", "IsNodePluginReady", "status", "True", "lastHeartbeatTime", now,
        "reason", "Healthy", "message", "volumes can be staged");
    if (!kube_server_get(world->sim->kube, &AZ_DRIVER_NODES, WORLD_NAMESPACE, name))
        world_create(
            world, &AZ_DRIVER_NODES, WORLD_NAMESPACE,
            json_pack("{s:{s:s}, s:{s:s}}", "metadata", "name", name, "spec", "nodeName", name));
    machine->plugin_told = true;
    machine->free_slots = node_count_free_slots(machine);
    if (machine->free_slots >= 0)
        json_object_set_new(status, "slots", json_pack("{s:i}", "free", machine->free_slots));
    world_patch(world, &AZ_DRIVER_NODES, WORLD_NAMESPACE, name, "status",
                json_pack("{s:o}", "status", status));
}

void node_beat(struct machine *machine)
{
    if (!machine->world->sim->landscape.failover)
        renew_lease(machine); /* else node_lease.h does */
    if (machine_serves(machine))
        write_heartbeat(machine);
    if (machine->ready)
        return;
    sim_note(machine->world->sim, "%s is ready again", machine->name);
    machine->ready = true;
    write_ready(machine);
}
