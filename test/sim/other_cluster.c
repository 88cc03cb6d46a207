#include "test/sim/other_cluster.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/disk.h"
#include "test/azsim/model/resource.h"
#include "test/sim/azure_side.h"
#include "test/sim/static_volume.h"
#include "test/sim/workload.h"
#include "test/sim/world.h"

#define OTHER_CLUSTER "5c1a0d52-6f6e-4f0b-9a43-0e5b6d1f7c11"

enum { KEPT_LEAST_MS = 20 * 1000, KEPT_MOST_MS = 8 * 60 * 1000, LOOK_MS = 5000 };

/* The driver's tags, written out: that they stay what they are is part of what is tested. */
static json_t *tags_of(enum taken_name taken)
{
    json_t *tags = json_pack("{s:s}", "k8s-azure-created-by", "kubernetes-azure-dd");

    if (taken == NAME_OF_OTHER_CLUSTER) {
        json_object_set_new(tags, "k8s-azure-created-by-driver", json_string(WORLD_DRIVER));
        json_object_set_new(tags, "k8s-azure-created-by-cluster", json_string(OTHER_CLUSTER));
    }
    return tags;
}

/* NULL if it was refused. */
static struct disk *make_disk(const struct volume *volume)
{
    const struct sim *sim = volume->world->sim;
    CLEANUP(json_decrefp) json_t *body = static_volume_disk_json(volume);
    struct operation *operation;
    struct disk *disk = NULL;

    json_object_set_new(body, "tags", tags_of(volume->wish.taken));
    if (volume->wish.taken_differs)
        json_object_set_new(json_object_get(body, "properties"), "diskSizeGB",
                            json_integer(VOLUME_GIB + 1));
    CLEANUP(refusal_freep)
    struct refusal *refusal =
        disk_put(sim->azure, azure_side_disk_group(sim->azure, &sim->landscape), volume->pv, body,
                 &disk, &operation);
    model_commit(sim->azure);
    return refusal ? NULL : disk;
}

/* The other cluster's; NULL once that is gone, whoever has one of its name since. */
static struct disk *find_disk(const struct volume *volume)
{
    const struct sim *sim = volume->world->sim;
    CLEANUP(freep) char *key = azure_side_disk_key(sim->azure, &sim->landscape, volume->pv);
    struct disk *disk = volume->taken_by ? disk_find(sim->azure, key) : NULL;

    return disk && strcmp(disk->unique_id, volume->taken_by) == 0 ? disk : NULL;
}

static struct err *keep_for_a_while(struct task *self, const struct volume *volume)
{
    struct disk *disk;

    TRY(task_sleep(self, world_draw(volume->world, KEPT_LEAST_MS, KEPT_MOST_MS)));
    if (volume->delete_wanted) /* nobody here needs the name: the disk stays to the end */
        return NULL;
    sim_note(volume->world->sim, "the other cluster deletes its disk %s", volume->pv);
    while ((disk = find_disk(volume))) {
        struct operation *operation;

        if (disk->provisioning != PROVISIONING_DELETING)
            refusal_free(disk_delete(disk, &operation));
        model_commit(volume->world->sim->azure);
        TRY(task_sleep(self, LOOK_MS));
    }
    return NULL;
}

static void run(struct task *self, void *arg)
{
    err_free(keep_for_a_while(self, arg));
}

void other_cluster_takes_name(struct volume *volume)
{
    const struct disk *disk = make_disk(volume);

    if (!disk)
        return;
    volume->taken_by = mem_strdup(disk->unique_id);
    sim_note(volume->world->sim, "another cluster has disk %s", volume->pv);
    group_spawn(&volume->world->sim->tasks, "other cluster", run, volume);
}

bool other_cluster_has(const struct world *world, const char *disk)
{
    LIST_FOREACH(&world->volumes, link) {
        const struct disk *its = VOLUME_OF(link)->taken_by ? find_disk(VOLUME_OF(link)) : NULL;

        if (its && strcmp(its->key, disk) == 0)
            return true;
    }
    return false;
}
