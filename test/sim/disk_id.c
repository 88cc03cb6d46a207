#include "test/sim/disk_id.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/records/names.h"
#include "test/azsim/model/resource.h"
#include "test/sim/azure_side.h"
#include "test/sim/coverage.h"
#include "test/sim/world.h"

/* ---- a name that is like another's ---- */

static const struct volume *any_other(const struct world *world)
{
    LIST_FOREACH(&world->volumes, link) {
        if (VOLUME_OF(link)->handle && VOLUME_OF(link)->phase == VOLUME_BOUND)
            return VOLUME_OF(link);
    }
    return NULL;
}

static bool is_taken(const struct world *world, const char *name)
{
    LIST_FOREACH(&world->volumes, link) {
        const struct volume *other = VOLUME_OF(link);

        if (other->handle && strcmp(volume_disk_name(other), name) == 0)
            return true;
    }
    return false;
}

/* "pvc-1-a" on node-00 and pvc-1 on a-node-00 have one name for their attachments. It must be short
 * enough for one of an AzVolume. NULL: there is none. */
static char *alike_name(const struct world *world)
{
    const struct volume *other = world->sim->landscape.alike_names ? any_other(world) : NULL;
    char *name = other ? mem_printf("%s-a", volume_disk_name(other)) : NULL;

    if (name && strlen(name) <= DISK_NAME_MAX && !is_taken(world, name))
        return name;
    free(name);
    return NULL;
}

/* ---- the same name in another resource group ---- */

/* Also of one that is to be made. */
static const char *name_of(const struct volume *volume)
{
    return volume->handle                          ? volume_disk_name(volume)
           : volume->wish.origin == VOLUME_DYNAMIC ? volume->pv
                                                   : NULL;
}

static bool has_namesakes(const struct volume *volume)
{
    return volume->phase != VOLUME_GONE && !volume->wish.refused && name_of(volume);
}

static const struct volume *draw_other(struct world *world, const struct volume *volume)
{
    const struct volume *found = NULL;
    uint64_t n = 0;

    LIST_FOREACH(&world->volumes, link) {
        const struct volume *other = VOLUME_OF(link);

        if (other != volume && has_namesakes(other) && world_draw(world, 0, n++) == 0)
            found = other;
    }
    return found;
}

static bool is_taken_id(const struct world *world, const char *id)
{
    CLEANUP(freep) char *key = resource_key(id);

    LIST_FOREACH(&world->volumes, link) {
        const struct volume *other = VOLUME_OF(link);

        if (other->disk && strcmp(other->disk, key) == 0)
            return true;
    }
    return false;
}

/* NULL: there are enough of that name. */
static char *namesake_id(const struct volume *volume)
{
    struct world *world = volume->world;
    const struct sim *sim = world->sim;
    const struct volume *other = draw_other(world, volume);

    for (unsigned i = 0; other && i < AZURE_COPIES_GROUPS; i++) {
        const struct group *group = azure_side_copies_group(sim->azure, &sim->landscape, i);
        CLEANUP(freep) char *id = group_resource_id(group, "disks", name_of(other));

        if (!is_taken_id(world, id)) {
            coverage_count("namesake", "of",
                           !other->handle                         ? "one to be made"
                           : other->phase == VOLUME_RELEASED      ? "one that is to go"
                           : other->wish.origin == VOLUME_DYNAMIC ? "one of the driver's"
                                                                  : "one made by hand");
            return TAKE_PTR(id);
        }
    }
    return NULL;
}

/* ---- what it is called ---- */

char *disk_id_for(const struct volume *volume)
{
    struct world *world = volume->world;
    const struct sim *sim = world->sim;
    const struct group *group = azure_side_disk_group(sim->azure, &sim->landscape);
    CLEANUP(freep) char *name = NULL;

    if (volume->wish.origin == VOLUME_IN_TREE) {
        name = mem_printf("kubernetes-dynamic-%s", volume->pv);
        return group_resource_id(group, "disks", name);
    }
    char *id = sim->landscape.namesakes && world_draw(world, 0, 1) ? namesake_id(volume) : NULL;
    if (id)
        return id;
    name = alike_name(world);
    if (!name)
        name = mem_printf("disk-of-%s", volume->claim);
    return group_resource_id(group, "disks", name);
}
