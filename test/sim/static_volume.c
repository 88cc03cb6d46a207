#include "test/sim/static_volume.h"

#include "lib/base/alloc.h"
#include "test/azsim/model/disk.h"
#include "test/sim/azure_side.h"
#include "test/sim/disk_id.h"
#include "test/sim/provisioner.h"
#include "test/sim/workload.h"
#include "test/sim/world.h"

enum {
    LATE = 3, /* disks in ten that come after their PersistentVolume */
    LATE_MOST_MS = 5 * 60 * 1000,
    LOOK_MS = 5000,
    LARGE_GIB = 5000, /* more than a disk with host caching may have */
};

/* ---- its disk ---- */

json_t *static_volume_disk_json(const struct volume *volume)
{
    const struct volume_wish *wish = &volume->wish;
    json_t *json = json_pack(
        "{s:s, s:{s:s}, s:{s:{s:s}, s:i, s:i}}", "location", volume->world->sim->azure->location,
        "sku", "name", wish->zonal ? "Premium_LRS" : "Premium_ZRS", "properties", "creationData",
        "createOption", "Empty", "diskSizeGB", wish->large ? LARGE_GIB : VOLUME_GIB, "maxShares",
        (int)wish->max_shares);

    if (wish->zonal)
        json_object_set_new(json, "zones",
                            json_pack("[o]", json_sprintf("%d", volume->chosen_zone + 1)));
    if (wish->origin == VOLUME_IN_TREE)
        json_object_set_new(json, "tags", json_pack("{s:s}", "created-by", "kubernetes-azure-dd"));
    return json;
}

static bool make_disk(const struct volume *volume)
{
    struct model *azure = volume->world->sim->azure;
    CLEANUP(json_decrefp) json_t *body = static_volume_disk_json(volume);
    struct operation *operation;
    struct disk *disk;
    CLEANUP(refusal_freep)
    struct refusal *refusal = disk_put(azure, azure_side_group_of(azure, volume->handle),
                                       volume_disk_name(volume), body, &disk, &operation);

    model_commit(azure);
    return !refusal;
}

static struct disk *find_disk(const struct volume *volume)
{
    return disk_find(volume->world->sim->azure, volume->disk);
}

static struct err *have_disk(struct task *self, const struct volume *volume)
{
    struct world *world = volume->world;

    if (volume->wish.origin == VOLUME_STATIC && world_draw(world, 1, 10) <= LATE)
        TRY(task_sleep(self, world_draw(world, 0, LATE_MOST_MS)));
    while (!make_disk(volume))
        TRY(task_sleep(self, LOOK_MS));
    sim_note(world->sim, "by hand: disk %s is made", volume_disk_name(volume));
    return NULL;
}

/* Refused while it is attached; a deletion that failed is asked for again. */
static struct err *delete_disk(struct task *self, const struct volume *volume)
{
    struct disk *disk;

    while ((disk = find_disk(volume))) {
        struct operation *operation;

        if (disk->provisioning != PROVISIONING_DELETING)
            refusal_free(disk_delete(disk, &operation));
        model_commit(volume->world->sim->azure);
        TRY(task_sleep(self, LOOK_MS));
    }
    return NULL;
}

/* ---- from the claim to its end ---- */

/* What is in volumeAttributes. */
static json_t *attributes_of(const struct volume_wish *wish)
{
    if (wish->origin == VOLUME_IN_TREE)
        return json_pack("{s:s, s:s, s:s}", "kind", "Managed", "cachingMode", "None", "fsType",
                         "ext4"); /* CSI migration's */
    if (wish->silent)
        return json_object();
    json_t *json = json_object();
    json_object_set_new(json, "maxShares", json_sprintf("%u", wish->max_shares));
    json_object_set_new(json, "maxMountReplicaCount", json_sprintf("%u", wish->replicas));
    json_object_set_new(json, "cachingMode", json_string("None"));
    return json;
}

static void bind(struct volume *volume)
{
    CLEANUP(freep) char *id = disk_id_for(volume);

    volume_bind(volume, id, attributes_of(&volume->wish),
                volume->wish.zonal ? 1U << volume->chosen_zone : 0);
}

static bool is_attached(const struct volume *volume)
{
    LIST_FOREACH(&volume->world->publications, link) {
        if (PUBLICATION_OF(link)->volume == volume)
            return true;
    }
    return false;
}

static struct err *delete_by_hand(struct task *self, struct volume *volume)
{
    while (is_attached(volume))
        TRY(task_sleep(self, LOOK_MS));
    sim_note(volume->world->sim, "by hand: PersistentVolume %s is deleted", volume->pv);
    volume_remove_pv(volume);
    return delete_disk(self, volume);
}

static struct err *live(struct task *self, struct volume *volume)
{
    while (volume->chosen_zone < 0 && !volume->delete_wanted)
        TRY(wait_for_change(self, &volume->changed, TIMER_NEVER));
    if (volume->delete_wanted) {
        volume_remove_claim(volume);
        volume->phase = VOLUME_GONE;
        return NULL;
    }
    bind(volume);
    TRY(have_disk(self, volume));
    while (!volume->delete_wanted)
        TRY(wait_for_change(self, &volume->changed, TIMER_NEVER));
    while (volume_is_used(volume))
        TRY(task_sleep(self, LOOK_MS));
    volume_remove_claim(volume);
    if (volume->wish.retain)
        return NULL;
    if (volume->wish.origin == VOLUME_IN_TREE) {
        TRY(provisioner_delete(self, volume));
        volume_remove_pv(volume);
    } else {
        TRY(delete_by_hand(self, volume));
    }
    volume->phase = VOLUME_GONE;
    return NULL;
}

static void run(struct task *self, void *arg)
{
    err_free(live(self, arg));
}

void static_volume_start(struct volume *volume)
{
    group_spawn(&volume->world->sim->tasks, "static volume", run, volume);
}
