#include "test/sim/mount.h"

#include "lib/base/alloc.h"
#include "test/azsim/model/attachment.h"
#include "test/sim/azure_side.h"
#include "test/sim/disk_keys.h"
#include "test/sim/other_driver.h"
#include "test/sim/world.h"

struct mount *machine_mount(const struct machine *machine, const struct volume *volume)
{
    LIST_FOREACH(&machine->mounts, link) {
        if (MOUNT_OF(link)->volume == volume)
            return MOUNT_OF(link);
    }
    return NULL;
}

struct mount *machine_use(struct machine *machine, struct volume *volume)
{
    struct mount *mount = machine_mount(machine, volume);

    if (mount)
        return mount;
    mount = mem_alloc(sizeof *mount);
    mount->machine = machine;
    mount->volume = volume;
    list_append(&machine->mounts, &mount->link);
    return mount;
}

void mount_free(struct mount *mount)
{
    list_remove(&mount->link);
    free(mount);
}

struct attachment *mount_attachment(const struct mount *mount)
{
    struct vm *vm = machine_vm(mount->machine);
    struct attachment *attachment = vm && mount->staged ? attachment_at(vm, mount->lun) : NULL;

    if (!attachment || !attachment->attached || attachment->sequence != mount->device)
        return NULL;
    return attachment;
}

struct content *mount_content(const struct mount *mount)
{
    return content_of(&mount->machine->world->sim->azure_side->contents, mount->disk);
}

bool mount_can_write(const struct mount *mount)
{
    const struct machine *machine = mount->machine;
    const struct vm *vm = machine_vm(machine);

    if (!machine->up || machine->frozen || machine->disks_cut || !vm ||
        vm->power != POWER_RUNNING || mount->shut_down)
        return false;
    const struct attachment *device = mount_attachment(mount);
    return device && disk_keys_accept(&machine->world->disk_keys, device);
}

bool machine_reports(const struct machine *machine, const struct volume *volume)
{
    for (size_t i = 0; i < machine->n_in_use; i++)
        if (machine->in_use[i] == volume)
            return true;
    return false;
}

void machine_report_in_use(struct machine *machine)
{
    json_t *names = json_array();

    if (!machine_is_connected(machine) || !machine->registered) {
        json_decref(names);
        return;
    }
    machine->n_in_use = 0;
    LIST_FOREACH(&machine->mounts, link) {
        struct volume *volume = MOUNT_OF(link)->volume;
        CLEANUP(freep)
        char *name = mem_printf("kubernetes.io/csi/" WORLD_DRIVER "^%s", volume->handle);

        ARRAY_ADD(machine->in_use, machine->n_in_use) = volume;
        json_array_append_new(names, json_string(name));
    }
    if (other_driver_in_use(machine))
        json_array_append_new(names, json_string(other_driver_in_use(machine)));
    world_patch(machine->world, &NODES, NULL, machine->name, "status",
                json_pack("{s:{s:o}}", "status", "volumesInUse", names));
    attach_detach_poke(machine->world);
}
