#include "test/sim/other_driver.h"

#include "lib/base/alloc.h"
#include "test/sim/world.h"

#define DRIVER "file.csi.azure.com"

/* Of so many machines one each has a VolumeAttachment, a volume that is only mounted, and a claim
 * of a pod. */
enum { MACHINES = 12, WITH_ATTACHMENT = 3, WITH_MOUNT = 7, WITH_CLAIM = 11 };

static bool is_nth(const struct machine *machine, unsigned which)
{
    return machine->world->sim->landscape.failover && machine->nth % MACHINES == which;
}

bool other_driver_is_on(const struct machine *machine)
{
    return is_nth(machine, WITH_ATTACHMENT) || is_nth(machine, WITH_MOUNT) ||
           is_nth(machine, WITH_CLAIM);
}

const char *other_driver_in_use(const struct machine *machine)
{
    return is_nth(machine, WITH_MOUNT) ? "kubernetes.io/csi/" DRIVER "^share" : NULL;
}

void other_driver_register(const struct machine *machine)
{
    CLEANUP(freep) char *name = mem_printf("files-%s", machine->name);

    if (is_nth(machine, WITH_ATTACHMENT))
        world_create(machine->world, &VOLUME_ATTACHMENTS, NULL,
                     json_pack("{s:{s:s}, s:{s:s, s:s, s:{s:s}}}", "metadata", "name", name, "spec",
                               "attacher", DRIVER, "nodeName", machine->name, "source",
                               "persistentVolumeName", "files"));
    if (is_nth(machine, WITH_CLAIM))
        world_create(machine->world, &PODS, WORLD_POD_NAMESPACE,
                     json_pack("{s:{s:s}, s:{s:s, s:[{s:s, s:{s:s}}]}}", "metadata", "name", name,
                               "spec", "nodeName", machine->name, "volumes", "name", "files",
                               "persistentVolumeClaim", "claimName", "files"));
}
