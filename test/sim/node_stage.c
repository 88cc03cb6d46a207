#include "test/sim/node_stage.h"

#include <stdlib.h>
#include <string.h>

#include "controller/names.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/host/identity.h"
#include "test/azsim/model/attachment.h"
#include "test/sim/record.h"
#include "test/sim/world.h"

enum {
    DEADLINE_MS = 120 * 1000, /* kubelet's patience with a call */
    LOOK_MS = 1000,           /* for a device */
    RARELY_LATE = 2,          /* devices in a hundred */
};

/* What the attachment said when it was looked at. */
struct place {
    char uid[64];
    unsigned lun;
    bool recorded; /* that the disk has a file system */
};

static const char *text_at(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));

    return text ? text : "";
}

static const json_t *find_attachment(const struct mount *mount)
{
    const struct sim *sim = mount->machine->world->sim;
    const struct record *record = record_find(sim, mount->volume->az_name, mount->machine->name);

    return record
               ? kube_server_get(sim->kube, &AZ_VOLUME_ATTACHMENTS, WORLD_NAMESPACE, record->name)
               : NULL;
}

/* As node/attachment.c decides it. */
static bool is_ready(const struct mount *mount, struct place *ret)
{
    const json_t *object = find_attachment(mount);
    const json_t *metadata = json_object_get(object, "metadata");
    const json_t *status = json_object_get(object, "status");
    const json_t *detail = json_object_get(status, "detail");
    const char *lun = text_at(json_object_get(detail, "publish_context"), CONTEXT_LUN);

    if (!object || json_object_get(metadata, "deletionTimestamp") || !lun[0] ||
        strcmp(text_at(json_object_get(object, "spec"), "role"), ROLE_PRIMARY) != 0 ||
        strcmp(text_at(status, "state"), STATE_ATTACHED) != 0 ||
        strcmp(text_at(detail, "role"), ROLE_PRIMARY) != 0)
        return false;
    snprintf(ret->uid, sizeof ret->uid, "%s", text_at(metadata, "uid"));
    ret->lun = (unsigned)strtoul(lun, NULL, 10);
    ret->recorded = json_object_get(json_object_get(status, "annotation"), NOTE_FILESYSTEM);
    return true;
}

static struct err *await_place(struct task *self, const struct mount *mount, uint64_t deadline,
                               struct place *ret)
{
    struct machine *machine = mount->machine;

    while (!machine_is_connected(machine) || !is_ready(mount, ret))
        TRY(wait_for_change(self, &machine->changed, deadline));
    return NULL;
}

static struct attachment *device_at(const struct machine *machine, unsigned lun)
{
    struct vm *vm = machine_vm(machine);
    struct attachment *attachment = vm ? attachment_at(vm, lun) : NULL;

    return attachment && attachment->attached ? attachment : NULL;
}

/* The kernel needs a moment to see a disk, at times a long one. */
static struct err *await_device(struct task *self, const struct mount *mount, uint64_t deadline,
                                unsigned lun)
{
    struct machine *machine = mount->machine;
    struct world *world = machine->world;
    bool late = world_chance(world, RARELY_LATE);

    while (!device_at(machine, lun)) {
        if (world_now(world) >= deadline)
            return err_new(ERR_TIMEOUT, "no device at LUN %u", lun);
        TRY(task_sleep(self, LOOK_MS));
    }
    return task_sleep(self, late ? world_draw(world, 5000, 40000) : world_draw(world, 50, 1500));
}

/* ---- whose disk it is ---- */

static struct volume *volume_on(const struct world *world, const struct disk *disk)
{
    return volume_find_by_handle(world, disk->id);
}

/* Only what is on a disk can be looked at; a blank one says nothing. */
static struct err *prove(const struct mount *mount, const struct place *place,
                         const struct disk *disk, bool *ret_format)
{
    const struct volume *owner = volume_on(mount->machine->world, disk);
    bool formatted = owner && owner->formatted;

    if (formatted && owner != mount->volume)
        return err_new(ERR_PRECONDITION, "the disk at LUN %u is that of %s", place->lun, owner->pv);
    if (!formatted && place->recorded && !mount->volume->wish.block)
        return err_new(ERR_PRECONDITION, "the disk at LUN %u has lost its file system", place->lun);
    *ret_format = !formatted && !mount->volume->wish.block;
    return NULL;
}

/* The disk is formatted, whoever it belongs to, and that is put on record. */
static void format(const struct mount *mount, const struct place *place, const struct disk *disk)
{
    struct world *world = mount->machine->world;
    struct volume *owner = volume_on(world, disk);
    struct filesystem_identity identity = {.type = "ext4"};
    const struct record *record =
        record_find(world->sim, mount->volume->az_name, mount->machine->name);

    if (owner)
        owner->formatted = true;
    identity_derive(mount->volume->handle, identity.uuid);
    CLEANUP(freep) char *text = identity_format(&identity);
    if (record)
        world_patch(world, &AZ_VOLUME_ATTACHMENTS, WORLD_NAMESPACE, record->name, "status",
                    json_pack("{s:{s:s}, s:{s:{s:s}}}", "metadata", "uid", place->uid, "status",
                              "annotation", NOTE_FILESYSTEM, text));
}

static struct err *check_still_ours(const struct mount *mount, const struct place *place)
{
    struct place now;

    if (!machine_is_connected(mount->machine))
        return err_new(ERR_UNAVAILABLE, "the API server cannot be reached");
    if (!is_ready(mount, &now) || strcmp(now.uid, place->uid) != 0 || now.lun != place->lun)
        return err_new(ERR_BUSY, "the volume was unpublished meanwhile");
    return NULL;
}

struct err *node_stage(struct task *self, struct mount *mount)
{
    struct world *world = mount->machine->world;
    uint64_t deadline = world_now(world) + DEADLINE_MS;
    struct place place;
    bool blank = false;

    TRY(await_place(self, mount, deadline, &place));
    TRY(await_device(self, mount, deadline, place.lun));
    TRY(check_still_ours(mount, &place));
    const struct attachment *device = device_at(mount->machine, place.lun);
    if (!device)
        return err_new(ERR_UNAVAILABLE, "the device at LUN %u has gone", place.lun);
    TRY(prove(mount, &place, device->disk, &blank));
    if (blank)
        format(mount, &place, device->disk);
    TRY(task_sleep(self, world_draw(world, 50, 2000)));
    TRY(check_still_ours(mount, &place));
    device = device_at(mount->machine, place.lun);
    if (!device)
        return err_new(ERR_UNAVAILABLE, "the device at LUN %u has gone", place.lun);
    memcpy(mount->disk, device->disk->unique_id, sizeof mount->disk);
    mount->lun = place.lun;
    mount->staged = true;
    mount->since = world_now(world);
    sim_note(world->sim, "volume %s is mounted on %s", mount->volume->pv, mount->machine->name);
    return NULL;
}
