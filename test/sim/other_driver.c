#include "test/sim/other_driver.h"

#include "lib/base/alloc.h"
#include "test/sim/workload.h"
#include "test/sim/world.h"

#define DRIVER "file.csi.azure.com"

/* How Kubernetes knows of it. */
enum other_kind { NONE, ATTACHED, MOUNTED, CLAIMED };

/* One machine in so many has one, of each kind in turn. */
enum { MACHINES = 4, KINDS = 3 };

static enum other_kind kind_on(const struct machine *machine)
{
    const struct sim *sim = machine->world->sim;

    if (!sim->landscape.failover || machine->nth % MACHINES != MACHINES - 1)
        return NONE;
    return ATTACHED + (enum other_kind)((machine->nth / MACHINES + sim->seed) % KINDS);
}

bool other_driver_is_on(const struct machine *machine)
{
    return kind_on(machine) != NONE;
}

bool other_driver_is_shared_on(const struct machine *machine)
{
    LIST_FOREACH(&machine->world->pods, link) {
        const struct pod *pod = POD_OF(link);

        if (pod->machine == machine && pod->workload->uses_share && pod->runs)
            return true;
    }
    return false;
}

const char *other_driver_in_use(const struct machine *machine)
{
    return kind_on(machine) == MOUNTED ? "kubernetes.io/csi/" DRIVER "^share" : NULL;
}

void other_driver_register(const struct machine *machine)
{
    CLEANUP(freep) char *name = mem_printf("files-%s", machine->name);

    if (kind_on(machine) == ATTACHED)
        world_create(machine->world, &VOLUME_ATTACHMENTS, NULL,
                     json_pack("{s:{s:s}, s:{s:s, s:s, s:{s:s}}}", "metadata", "name", name, "spec",
                               "attacher", DRIVER, "nodeName", machine->name, "source",
                               "persistentVolumeName", "files"));
    if (kind_on(machine) == CLAIMED)
        world_create(machine->world, &PODS, WORLD_POD_NAMESPACE,
                     json_pack("{s:{s:s}, s:{s:s, s:[{s:s, s:{s:s}}]}}", "metadata", "name", name,
                               "spec", "nodeName", machine->name, "volumes", "name", "files",
                               "persistentVolumeClaim", "claimName", "files"));
}
