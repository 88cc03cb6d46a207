#include "test/sim/node_repair.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/sim/world.h"

enum {
    LOOK_MS = 5000,
    REBOOT_MS = 90 * 1000, /* after it was given up, and after it can be reached again */
    REFUSED_MS = 20 * 1000 /* until somebody sees that a pod's writes fail */
};

static void look_at_machine(struct machine *machine)
{
    uint64_t now = world_now(machine->world);
    uint64_t since = machine->given_up_at > machine->connected_since ? machine->given_up_at
                                                                     : machine->connected_since;
    const char *former = machine->given_up ? machine->given_up : machine->moved;
    CLEANUP(freep) char *boot = machine_boot_id(machine);

    if (!former || strcmp(former, boot) != 0 || machine->struck || machine->retired ||
        !machine_is_connected(machine) || now - since < REBOOT_MS)
        return;
    sim_note(machine->world->sim, "%s lost its volumes, and is started anew", machine->name);
    machine_power_off(machine);
    machine_power_on(machine);
}

/* The disk is there and says no. */
static bool is_refused(const struct mount *mount)
{
    const struct attachment *device = mount->staged ? mount_attachment(mount) : NULL;

    return device && !mount->machine->disks_cut &&
           !disk_keys_accept(&mount->machine->world->disk_keys, device);
}

static void look_at_pod(struct pod *pod)
{
    uint64_t now = world_now(pod->world);

    if (!pod->runs || pod->deleting || !machine_is_connected(pod->machine))
        return;
    for (size_t i = 0; i < pod->n_volumes; i++) {
        struct mount *mount = machine_mount(pod->machine, pod->volumes[i]);

        if (!mount || !is_refused(mount)) {
            if (mount)
                mount->refused_since = 0;
            continue;
        }
        if (!mount->refused_since)
            mount->refused_since = now;
        if (now - mount->refused_since >= REFUSED_MS)
            pod_delete(pod);
    }
}

void node_repair_run(struct task *self, void *arg)
{
    world_look_around(self, arg, LOOK_MS, look_at_machine, look_at_pod);
}
