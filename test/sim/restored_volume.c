#include "test/sim/restored_volume.h"

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "test/azsim/model/disk.h"
#include "test/sim/coverage.h"
#include "test/sim/invariant.h"
#include "test/sim/record.h"
#include "test/sim/world.h"

enum {
    LOOK_MS = 5000,
    LOOKS_MS = 30 * 60 * 1000,
    RETRY_MOST_S = 5 * 60, /* of external-provisioner */
    STAYS_S = 10 * 60,     /* a failed creation's record, after the last attempt */
    US_IN_S = 1000 * 1000,
};

/* ---- which ---- */

static bool is_published(const struct volume *volume)
{
    LIST_FOREACH(&volume->world->publications, link) {
        if (PUBLICATION_OF(link)->volume == volume)
            return true;
    }
    return false;
}

static bool is_being_copied(const struct volume *volume)
{
    LIST_FOREACH(&volume->world->volumes, link) {
        if (VOLUME_OF(link)->phase == VOLUME_PENDING &&
            VOLUME_OF(link)->wish.source.volume == volume)
            return true;
    }
    return false;
}

/* What was changed since is not what its claim in the backup asks for, and a copy may have lost its
 * source: CreateVolume refuses both, and a person has to help. */
static bool is_as_made(const struct volume *volume, const struct disk *disk)
{
    int64_t gib = volume->wish.gib ? volume->wish.gib : VOLUME_GIB;

    return disk->spec.size_gib == gib && volume->wanted_gib == gib && !volume->asked_skus &&
           !volume->by_hand_shares && !copy_source_is_any(&volume->wish.source);
}

static bool is_on_no_vm(const struct volume *volume, const struct disk *disk)
{
    const struct volume_record *record = record_volume(volume->world->sim, volume->disk);

    return record && record->exists && !record->deleting && record->created &&
           list_is_empty(&record->attachments) && list_is_empty(&disk->attachments) &&
           !is_published(volume);
}

static bool suits(const struct volume *volume, const struct disk *disk)
{
    return disk && volume->phase == VOLUME_BOUND && volume->wish.origin == VOLUME_DYNAMIC &&
           volume->stages > 0 && !volume->delete_wanted && !volume_is_used(volume) &&
           !is_being_copied(volume) && is_as_made(volume, disk) && is_on_no_vm(volume, disk);
}

/* ---- what the backup says ---- */

/* The attempt after the one that failed has made it. */
static void restore_record(struct volume *volume, const struct disk *disk)
{
    struct world *world = volume->world;
    const char *name = record_volume(world->sim, volume->disk)->name;
    int64_t before_s = (int64_t)world_draw(world, 1, RETRY_MOST_S);
    int64_t forget_us = disk->created_us + (STAYS_S - before_s) * US_IN_S;
    char forget_after[TIMESTAMP_SIZE];

    timestamp_format(forget_us, forget_after);
    coverage_count("restored volume", "its creation had failed",
                   forget_us < loop_wall_us(world->sim->loop) ? "long ago" : "just now");
    world_patch(world, &AZ_VOLUMES, WORLD_NAMESPACE, name, "status", json_pack("{s:n}", "status"));
    world_patch(world, &AZ_VOLUMES, WORLD_NAMESPACE, name, "status",
                json_pack("{s:{s:s, s:{s:s, s:s}, s:{s:s}}}", "status", "state", "CreationFailed",
                          "error", "code", "RESOURCE_EXHAUSTED", "message", "no quota is left",
                          "annotation", ANNOTATION_FORGET_AFTER, forget_after));
}

static void restore(struct volume *volume, const struct disk *disk)
{
    struct world *world = volume->world;

    sim_note(world->sim, "volume %s is restored to when its creation had failed", volume->pv);
    world->records_lost = true;
    restore_record(volume, disk);
    volume_unbind(volume);
}

static bool restore_first(struct sim *sim)
{
    LIST_FOREACH(&sim->world->volumes, link) {
        struct volume *volume = VOLUME_OF(link);
        const struct disk *disk = volume->disk ? disk_find(sim->azure, volume->disk) : NULL;

        if (!suits(volume, disk))
            continue;
        restore(volume, disk);
        return true;
    }
    return false;
}

static void restore_within(struct task *self, void *arg)
{
    struct sim *sim = arg;
    uint64_t until = loop_now(sim->loop) + LOOKS_MS;
    struct err *err = NULL;

    while (!err && loop_now(sim->loop) < until && !restore_first(sim))
        err = task_sleep(self, LOOK_MS);
    err_free(err);
}

void restore_volume(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    group_spawn(&sim->tasks, "restore", restore_within, sim);
}
