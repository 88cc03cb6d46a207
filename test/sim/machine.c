#include "test/sim/machine.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/vm.h"
#include "test/sim/azure_side.h"
#include "test/sim/kubelet.h"
#include "test/sim/node_attachment.h"
#include "test/sim/node_fence.h"
#include "test/sim/node_lease.h"
#include "test/sim/node_objects.h"
#include "test/sim/running_job.h"
#include "test/sim/world.h"

enum {
    BOOT_LEAST_MS = 20 * 1000,
    BOOT_MOST_MS = 60 * 1000,
    BEAT_MS = 30 * 1000,
    NEWS_MS = 300,              /* until a change of the driver's objects is looked at */
    PLUGIN_LATE_MS = 10 * 1000, /* after kubelet, at most, when the machine starts */
};

static struct loop *loop(const struct machine *machine)
{
    return machine->world->sim->loop;
}

struct machine *machine_find(const struct world *world, const char *name)
{
    LIST_FOREACH(&world->machines, link) {
        if (strcmp(MACHINE_OF(link)->name, name) == 0)
            return MACHINE_OF(link);
    }
    return NULL;
}

struct vm *machine_vm(const struct machine *machine)
{
    return vm_find_by_name(machine->world->sim->azure, machine->name);
}

bool machine_is_connected(const struct machine *machine)
{
    return machine->up && !machine->cut;
}

bool machine_reaches_server(const struct machine *machine)
{
    return machine_is_connected(machine) && !kube_server_is_away(machine->world->sim->kube);
}

/* ---- heartbeats ---- */

/* Kubelet's lease and, while the plug-in runs, its AzDriverNode; what is missing is made. */
static void beat(void *ctx)
{
    struct machine *machine = ctx;
    uint64_t now = loop_now(loop(machine));
    bool serves = machine_serves(machine);

    if (!machine_is_connected(machine) || machine->dismissed)
        return;
    if (!machine->registered)
        node_register(machine);
    if (now >= machine->beat_due || (serves && node_has_news(machine))) {
        machine->beat_due = now + BEAT_MS - world_draw(machine->world, 0, BEAT_MS / 5);
        machine->renewed = now;
        node_beat(machine);
    }
    uint64_t next = machine->beat_due;
    if (!serves && !machine->plugin_gone && machine->plugin_back < next)
        next = machine->plugin_back;
    loop_start_timer(loop(machine), &machine->beat, next, beat, machine);
}

void machine_heard(struct machine *machine)
{
    uint64_t soon = loop_now(loop(machine)) + NEWS_MS;

    waiters_wake(&machine->changed);
    running_jobs_heard(machine);
    if (machine_is_connected(machine) && machine->beat_due > soon)
        loop_start_timer(loop(machine), &machine->beat, soon, beat, machine);
}

struct err *machine_wait(struct task *self, struct machine *machine, uint64_t deadline)
{
    TRY(wait_for_change(self, &machine->changed, deadline));
    return task_is_cancelled(self) ? err_new(ERR_CANCELED, "the task was cancelled") : NULL;
}

char *machine_boot_id(const struct machine *machine)
{
    return mem_printf("%s-%u", machine->name, machine->boots);
}

static void connect(struct machine *machine)
{
    machine->beat_due = machine->connected_since = loop_now(loop(machine));
    node_attachments_heard(machine);
    beat(machine);
    node_report_boot(machine);
    node_fence_look(machine);
    machine_report_in_use(machine);
    waiters_wake(&machine->changed);
    running_jobs_heard(machine);
}

/* Kubelet runs, and need not start first. */
static void connect_again(struct machine *machine)
{
    connect(machine);
    node_lease_connected(machine);
}

static void fall_silent(struct machine *machine)
{
    if (machine_is_connected(machine))
        machine->silent_since = loop_now(loop(machine));
}

/* From `at` on, anew. */
static void plugin_starts(struct machine *machine, uint64_t at)
{
    machine->plugin_back = at;
    machine->plugin_told = false;
    machine->plugin_starts++;
}

/* ---- its VM ---- */

/* Instances of a uniform scale set have numbers, and no number comes twice. */
static json_t *vm_json(const struct machine *machine)
{
    char zone[2] = {(char)('1' + machine->zone), '\0'};
    json_t *json = json_pack("{s:s, s:s, s:s}", "name", machine->name, "size", "Standard_D4s_v5",
                             "zone", zone);

    switch (landscape_vm_kind(&machine->world->sim->landscape, machine->nth)) {
    case VM_STANDALONE:
        break;
    case VM_UNIFORM:
        json_object_set_new(json, "scaleSet", json_string("pool"));
        json_object_set_new(
            json, "instanceId",
            json_sprintf("%u", machine->nth + WORLD_MOST_MACHINES * machine->vms_made));
        break;
    case VM_FLEXIBLE:
        json_object_set_new(json, "scaleSet", json_string("flex"));
        json_object_set_new(json, "resourceName",
                            json_sprintf("flex_%u_%u", machine->nth, machine->vms_made));
        break;
    }
    return json;
}

static void add_vm(struct machine *machine)
{
    struct sim *sim = machine->world->sim;
    struct vm_spec spec = {0};
    struct vm *vm;
    CLEANUP(json_decrefp) json_t *json = vm_json(machine);
    CLEANUP(err_freep) struct err *err = vm_spec_read(json, "vm", &spec);

    if (!err)
        err = vm_add(sim->azure, azure_side_vm_group(sim->azure, &sim->landscape), &spec, &vm);
    if (err)
        sim_note(sim, "no VM %s: %s", machine->name, err_message(err));
    else
        machine->vms_made++;
    vm_spec_fini(&spec);
}

static void boot(void *ctx)
{
    struct machine *machine = ctx;

    machine->up = true;
    machine->dismissed = machine->plugin_gone = false;
    machine->boots++;
    plugin_starts(machine,
                  world_now(machine->world) + world_draw(machine->world, 0, PLUGIN_LATE_MS));
    sim_note(machine->world->sim, "%s is up", machine->name);
    node_attachments_heard(machine);
    node_attachments_forget(machine);
    if (!machine->cut)
        connect(machine);
    node_lease_start(machine);
    kubelet_start(machine);
}

/* The names of two may differ by what stands before only. */
static char *name_of(const struct world *world, unsigned nth)
{
    if (!world->sim->landscape.alike_names)
        return mem_printf("node-%02u", nth);
    return mem_printf(nth % 2 ? "a-node-%02u" : "node-%02u", nth / 2);
}

struct machine *machine_new(struct world *world, unsigned nth, unsigned zone)
{
    struct machine *machine = mem_alloc(sizeof *machine);

    *machine = (struct machine){
        .world = world, .name = name_of(world, nth), .nth = nth, .zone = zone, .free_slots = -1};
    list_init(&machine->publications);
    list_init(&machine->mounts);
    list_init(&machine->jobs);
    waiters_init(&machine->changed);
    list_append(&world->machines, &machine->link);
    add_vm(machine);
    boot(machine);
    return machine;
}

void machine_free(struct machine *machine)
{
    loop_stop_timer(loop(machine), &machine->beat);
    loop_stop_timer(loop(machine), &machine->boot);
    node_lease_stop(machine);
    running_jobs_power_off(machine);
    LIST_FOREACH(&machine->mounts, link)
        mount_free(MOUNT_OF(link));
    json_decref(machine->known);
    free(machine->given_up);
    free(machine->moved);
    free(machine->in_use);
    free(machine->name);
    free(machine);
}

/* A deletion that goes on does so; one that failed begins again. */
bool machine_lost_vm(struct machine *machine)
{
    struct vm *vm = machine_vm(machine);

    if (vm)
        vm_delete(vm);
    return !vm;
}

/* A providerID cannot be changed: where the new VM has another id, its Node is another one too. */
bool machine_make_vm(struct machine *machine)
{
    const struct landscape *landscape = &machine->world->sim->landscape;

    if (!machine_lost_vm(machine))
        return false;
    if (landscape_vm_kind(landscape, machine->nth) != VM_STANDALONE)
        machine_unregister(machine);
    add_vm(machine);
    machine_power_on(machine);
    return true;
}

void machine_delete_vm(struct machine *machine)
{
    struct vm *vm = machine_vm(machine);

    machine_power_off(machine);
    if (vm)
        vm_delete(vm);
    sim_note(machine->world->sim, "the VM of %s is deleted", machine->name);
}

/* ---- power ---- */

void machine_power_off(struct machine *machine)
{
    struct vm *vm = machine_vm(machine);

    fall_silent(machine);
    sim_note(machine->world->sim, "%s loses its power", machine->name);
    loop_stop_timer(loop(machine), &machine->beat);
    loop_stop_timer(loop(machine), &machine->boot);
    node_lease_stop(machine);
    machine->up = machine->frozen = false;
    kubelet_die(machine);
    running_jobs_power_off(machine);
    LIST_FOREACH(&machine->mounts, link)
        mount_free(MOUNT_OF(link));
    if (vm)
        vm_set_power(vm, POWER_STOPPED);
}

void machine_lose_host(struct machine *machine)
{
    struct vm *vm = machine_vm(machine);

    machine_power_off(machine);
    if (vm)
        vm_set_power(vm, POWER_RUNNING);
}

bool machine_is_off(const struct machine *machine)
{
    const struct vm *vm = machine_vm(machine);

    return !machine->up && (!vm || vm->power != POWER_RUNNING);
}

void machine_power_on(struct machine *machine)
{
    struct vm *vm = machine_vm(machine);

    if (machine->up || !vm)
        return;
    vm_set_power(vm, POWER_RUNNING);
    loop_start_timer(loop(machine), &machine->boot,
                     loop_now(loop(machine)) +
                         world_draw(machine->world, BOOT_LEAST_MS, BOOT_MOST_MS),
                     boot, machine);
}

/* ---- its Node ---- */

void machine_dismiss(struct machine *machine)
{
    machine->dismissed = true;
    machine_unregister(machine);
}

void machine_lose_plugin(struct machine *machine)
{
    if (!machine->dismissed)
        return;
    machine->plugin_gone = true;
    machine->plugin_starts++;
    running_jobs_orphan(machine);
}

void machine_restart_plugin(struct machine *machine, uint64_t ms)
{
    sim_note(machine->world->sim, "the plug-in of %s crashes", machine->name);
    plugin_starts(machine, world_now(machine->world) + ms);
    machine->answering = false;
    node_fence_look(machine);
    node_attachments_forget(machine);
    running_jobs_orphan(machine);
}

bool machine_serves(const struct machine *machine)
{
    return machine->up && !machine->plugin_gone &&
           world_now(machine->world) >= machine->plugin_back;
}

void machine_readmit(struct machine *machine)
{
    machine->dismissed = machine->plugin_gone = false;
    if (!machine_is_connected(machine))
        return;
    connect_again(machine);
}

/* ---- its connection ---- */

void machine_cut(struct machine *machine, bool frozen)
{
    sim_note(machine->world->sim, "%s %s", machine->name,
             frozen ? "stands still" : "is cut off from the API server");
    fall_silent(machine);
    machine->cut = true;
    machine->frozen |= frozen;
    node_attachments_heard(machine);
    loop_stop_timer(loop(machine), &machine->beat);
}

void machine_hibernate(struct machine *machine)
{
    struct vm *vm = machine_vm(machine);

    machine_cut(machine, true);
    if (vm)
        vm_set_power(vm, POWER_HIBERNATED);
}

void machine_heal(struct machine *machine)
{
    struct vm *vm = machine_vm(machine);

    if (!machine->cut)
        return;
    if (vm && vm->power == POWER_HIBERNATED)
        vm_set_power(vm, POWER_RUNNING);
    sim_note(machine->world->sim, "%s reaches the API server again", machine->name);
    machine->cut = machine->frozen = false;
    if (!machine->up)
        return;
    connect_again(machine);
}

void machine_cut_disks(struct machine *machine, bool cut)
{
    sim_note(machine->world->sim, "%s %s its disks", machine->name,
             cut ? "is cut off from" : "reaches");
    machine->disks_cut = cut;
    machine->cut_disks_until = world_now(machine->world);
    machine->world->disk_keys.changes++;
    node_fence_look(machine);
}
