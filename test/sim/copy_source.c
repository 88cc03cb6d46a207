#include "test/sim/copy_source.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/disk_sku.h"
#include "test/azsim/model/disk.h"
#include "test/sim/workload.h"
#include "test/sim/world.h"

/* In a hundred copies. */
enum { SNAPSHOT_GOES = 20, VOLUME_GOES = 8 };
enum { GOES_SOON_MS = 4000, GOES_MOST_MS = 60 * 1000, UNFIT = 8 /* one in so many is chosen */ };

/* ---- which ---- */

static bool has_slow_data(const struct volume *volume)
{
    const struct disk *disk = disk_find(volume->world->sim->azure, volume->disk);

    return disk && disk_sku_is_provisioned(disk->spec.sku->name);
}

/* A volume in one zone is copied in that zone, so its pod must be able to be there; a pod with
 * several volumes might have to be in two. */
static bool suits_zone(const struct workload *workload, const struct volume *volume)
{
    if (!workload->wish.zonal || !volume->wish.zonal)
        return true;
    return workload->volumes_per_pod == 1 &&
           (workload->zone < 0 || volume->zones & 1U << workload->zone);
}

static bool suits(const struct workload *workload, const struct volume *volume)
{
    return volume->phase == VOLUME_BOUND && !volume->delete_wanted &&
           volume->wish.origin != VOLUME_IN_TREE && volume->wish.block == workload->wish.block &&
           suits_zone(workload, volume);
}

/* One in another region is for a cluster there. Some people have not read what Azure makes disks of
 * which snapshots. */
static bool suits_snapshot(const struct workload *workload, const struct volume_snapshot *snapshot,
                           struct random *random)
{
    return snapshot->id && !snapshot->delete_wanted && !snapshot->location &&
           snapshot->block == workload->wish.block &&
           (!snapshot->slow || workload->wish.zonal || random_below(random, UNFIT) == 0);
}

static struct volume_snapshot *draw_snapshot(const struct workload *workload, struct random *random)
{
    struct volume_snapshot *found = NULL;
    unsigned n = 0;

    LIST_FOREACH(&workload->world->snapshots, link) {
        if (suits_snapshot(workload, SNAPSHOT_OF(link), random) && random_below(random, ++n) == 0)
            found = SNAPSHOT_OF(link);
    }
    return found;
}

/* Often the newest, which may be a copy that is not complete. */
static struct volume *draw_volume(const struct workload *workload, struct random *random)
{
    bool newest = random_below(random, 2) == 0;
    struct volume *found = NULL;
    unsigned n = 0;

    LIST_FOREACH(&workload->world->volumes, link) {
        if (suits(workload, VOLUME_OF(link)) && (random_below(random, ++n) == 0 || newest))
            found = VOLUME_OF(link);
    }
    return found;
}

struct copy_source copy_source_draw(const struct workload *workload, struct random *random)
{
    struct copy_source source = {.snapshot = draw_snapshot(workload, random)};

    if (!source.snapshot || random_below(random, 2) == 0)
        source = (struct copy_source){.volume = draw_volume(workload, random)};
    return source;
}

/* ---- what it is ---- */

bool copy_source_is_any(const struct copy_source *source)
{
    return source->snapshot || source->volume;
}

const char *copy_source_id(const struct copy_source *source)
{
    if (source->snapshot)
        return source->snapshot->id;
    return source->volume ? source->volume->handle : NULL;
}

int64_t copy_source_gib(const struct copy_source *source)
{
    return source->snapshot ? source->snapshot->gib : source->volume->gib;
}

int copy_source_zone(const struct copy_source *source)
{
    return source->volume && source->volume->wish.zonal ? source->volume->chosen_zone : -1;
}

bool copy_source_is_slow(const struct copy_source *source)
{
    return source->snapshot ? source->snapshot->slow : has_slow_data(source->volume);
}

bool copy_source_is_untold(const struct volume *volume)
{
    const struct copy_source *source = volume ? &volume->wish.source : NULL;

    while (source && copy_source_is_any(source)) {
        if (source->snapshot && source->snapshot->delete_wanted)
            return true;
        volume = source->volume
                     ? source->volume
                     : volume_find_by_handle(source->snapshot->world, source->snapshot->source);
        source = volume ? &volume->wish.source : NULL;
    }
    return false;
}

/* ---- and that it goes ---- */

struct going {
    struct world *world;
    struct copy_source source;
};

static void go(const struct going *going)
{
    if (going->source.snapshot) {
        snapshotter_delete(going->source.snapshot);
        return;
    }
    LIST_FOREACH(&going->world->workloads, link) {
        struct workload *workload = WORKLOAD_OF(link);

        if (!workload->deleted && workload_has(workload, going->source.volume))
            workload_delete(workload, true);
    }
}

static void run(struct task *self, void *arg)
{
    struct going *going = arg;
    uint64_t most = world_chance(going->world, 50) ? GOES_SOON_MS : GOES_MOST_MS;
    struct err *err = task_sleep(self, world_draw(going->world, 0, most));

    if (!err)
        go(going);
    err_free(err);
    free(going);
}

void copy_source_may_go(struct world *world, const struct copy_source *source)
{
    struct going *going;

    if (!world_chance(world, source->snapshot ? SNAPSHOT_GOES : VOLUME_GOES))
        return;
    going = mem_alloc(sizeof *going);
    *going = (struct going){.world = world, .source = *source};
    if (!group_spawn(&world->sim->tasks, "source goes", run, going))
        free(going);
}
