#include "test/sim/node_stage.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/identity.h"
#include "provisioner-lib/records/names.h"
#include "test/azsim/model/attachment.h"
#include "test/sim/azure_side.h"
#include "test/sim/node_fence.h"
#include "test/sim/node_lease.h"
#include "test/sim/node_proof.h"
#include "test/sim/running_job.h"
#include "test/sim/world.h"

enum {
    DEADLINE_MS = 120 * 1000, /* kubelet's patience with a call */
    LOOK_MS = 1000,           /* for a device */
    RARELY_LATE = 2,          /* devices in a hundred */
    RARELY_DAMAGED = 20,      /* file systems in a hundred that were not unmounted */
};

static struct err *await_place(struct task *self, const struct mount *mount, uint64_t deadline,
                               struct place *ret)
{
    struct machine *machine = mount->machine;

    while (!node_attachment_is_ready(machine, mount->volume, ret))
        TRY(machine_wait(self, machine, deadline));
    return machine_reaches_server(machine) /* which it reads the AzVolume from */
               ? NULL
               : err_new(ERR_UNAVAILABLE, "the API server cannot be reached");
}

struct attachment *node_device_at(const struct machine *machine, unsigned lun)
{
    struct vm *vm = machine_vm(machine);
    struct attachment *attachment = vm ? attachment_at(vm, lun) : NULL;

    return attachment && attachment->attached ? attachment : NULL;
}

/* NULL: there is no device any more. */
static struct content *content_at(const struct machine *machine, const struct place *place)
{
    const struct attachment *device = node_device_at(machine, place->lun);

    return device ? content_of(&machine->world->sim->azure_side->contents, device->disk->unique_id)
                  : NULL;
}

/* The kernel needs a moment to see a disk, at times a long one. */
static struct err *await_device(struct task *self, const struct mount *mount, uint64_t deadline,
                                unsigned lun)
{
    struct machine *machine = mount->machine;
    struct world *world = machine->world;
    bool late = world_chance(world, RARELY_LATE);

    while (!node_device_at(machine, lun)) {
        if (world_now(world) >= deadline)
            return err_new(ERR_TIMEOUT, "no device at LUN %u", lun);
        TRY(task_sleep(self, LOOK_MS));
    }
    return task_sleep(self, late ? world_draw(world, 5000, 40000) : world_draw(world, 50, 1500));
}

/* ---- what is written to it ---- */

/* What is on the disk from now on is put on record. */
static struct err *record_filesystem(const struct mount *mount, const struct place *place)
{
    struct world *world = mount->machine->world;
    struct filesystem_identity identity = {.type = "ext4"};
    if (!machine_reaches_server(mount->machine))
        return err_new(ERR_UNAVAILABLE, "the API server cannot be reached");
    identity_derive(mount->volume->handle, identity.uuid);
    CLEANUP(freep) char *text = identity_format(&identity);
    world_patch(world, &AZ_VOLUME_ATTACHMENTS, WORLD_NAMESPACE,
                node_attachment_name(mount->machine, mount->volume), "status",
                json_pack("{s:{s:s}, s:{s:{s:s}}}", "metadata", "uid", place->uid, "status",
                          "annotation", ANNOTATION_FILESYSTEM, text));
    return NULL;
}

/* A call to the plug-in is answered by the one that took it, or not at all. */
static struct err *check_still_ours(const struct mount *mount, const struct place *place,
                                    unsigned starts)
{
    const struct machine *machine = mount->machine;

    if (machine->plugin_starts != starts || !machine_serves(machine))
        return err_new(ERR_UNAVAILABLE, "the plug-in has ended");
    TRY(node_attachment_check(machine, mount->volume, place));
    return node_device_at(machine, place->lun)
               ? NULL
               : err_new(ERR_UNAVAILABLE, "the device at LUN %u has gone", place->lun);
}

/* Its origin was in use when it was copied, perhaps: what its journal holds comes first. */
static struct err *mark_copy(struct task *self, const struct mount *mount,
                             const struct place *place, struct content *content, uint64_t deadline)
{
    struct machine *machine = mount->machine;

    if (content->unclean)
        TRY(running_job(self, machine, mount->volume, place, JOB_MOUNT, deadline));
    content->unclean = false;
    return running_job(self, machine, mount->volume, place, JOB_SET_UUID, deadline);
}

/* What the disk carries does not show whose it is: the VM may have been made anew since. */
static struct err *await_boot(struct task *self, const struct mount *mount,
                              const struct place *place, uint64_t deadline)
{
    struct machine *machine = mount->machine;
    struct place now;

    for (;;) {
        TRY(node_attachment_check(machine, mount->volume, place));
        if (node_attachment_is_ready(machine, mount->volume, &now) && now.of_boot)
            return NULL;
        TRY(machine_wait(self, machine, deadline));
    }
}

static struct err *prepare(struct task *self, const struct mount *mount, const struct place *place,
                           uint64_t deadline)
{
    struct machine *machine = mount->machine;
    struct volume *volume = mount->volume;
    struct content *content = content_at(machine, place);
    struct disk_verdict verdict;

    if (!content)
        return err_new(ERR_UNAVAILABLE, "the device at LUN %u has gone", place->lun);
    TRY(node_prove(self, mount, place, content, &verdict));
    if (volume->wish.block || verdict.format || verdict.copy)
        TRY(await_boot(self, mount, place, deadline));
    content = content_at(machine, place);
    if (!content)
        return err_new(ERR_UNAVAILABLE, "the device at LUN %u has gone", place->lun);
    if (verdict.format)
        TRY(running_job(self, machine, volume, place, JOB_MKFS, deadline));
    else if (verdict.copy)
        TRY(mark_copy(self, mount, place, content, deadline));
    else if (content->unclean && world_chance(machine->world, RARELY_DAMAGED))
        TRY(running_job(self, machine, volume, place, JOB_FSCK, deadline));
    return verdict.record_due ? record_filesystem(mount, place) : NULL;
}

/* One that the role is lost for meanwhile, or the caller, is undone. */
static struct err *mount_it(struct task *self, struct mount *mount, const struct place *place,
                            unsigned starts, uint64_t deadline)
{
    struct machine *machine = mount->machine;
    const struct content *content = content_at(machine, place);

    if (content && content->unclean)
        TRY(running_job(self, machine, mount->volume, place, JOB_MOUNT, deadline));
    TRY(check_still_ours(mount, place, starts));
    TRY(node_fence_check(mount, place));
    memcpy(mount->disk, node_device_at(machine, place->lun)->disk->unique_id, sizeof mount->disk);
    mount->lun = place->lun;
    mount->device = node_device_at(machine, place->lun)->sequence;
    mount->stage = ++mount->volume->stages;
    mount->staged = true;
    mount_content(mount)->unclean = !mount->volume->wish.block;
    mount->since = world_now(machine->world);
    node_lease_wanted(machine);
    return NULL;
}

static struct err *stage(struct task *self, struct mount *mount)
{
    struct world *world = mount->machine->world;
    uint64_t deadline = world_now(world) + DEADLINE_MS;
    unsigned starts = mount->machine->plugin_starts;
    struct place place;

    if (running_job_find(mount->machine, mount->volume))
        return err_new(ERR_BUSY, "a program runs on the disk");
    TRY(await_place(self, mount, deadline, &place));
    TRY(await_device(self, mount, deadline, place.lun));
    TRY(check_still_ours(mount, &place, starts));
    TRY(node_fence_take(self, mount, &place));
    TRY(prepare(self, mount, &place, deadline));
    TRY(task_sleep(self, world_draw(world, 50, 2000)));
    TRY(check_still_ours(mount, &place, starts));
    TRY(mount_it(self, mount, &place, starts, deadline));
    sim_note(world->sim, "volume %s is mounted on %s", mount->volume->pv, mount->machine->name);
    return NULL;
}

struct err *node_stage(struct task *self, struct mount *mount)
{
    bool lost = mount->staged && mount->fence_lost;

    if (mount->staged && !lost)
        return NULL;
    if (!machine_serves(mount->machine))
        return err_new(ERR_UNAVAILABLE, "the plug-in does not answer");
    if (lost && mount->published > 0)
        return err_new(ERR_PRECONDITION, "the fence is lost, and other pods have the volume");
    node_unstage(mount);
    return stage(self, mount);
}

void node_unstage(struct mount *mount)
{
    if (!mount->staged)
        return;
    if (mount_can_write(mount))
        mount_content(mount)->unclean = false;
    node_fence_release(mount);
    mount->staged = false;
}
