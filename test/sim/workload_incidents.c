/* What people do to workloads. */

#include <string.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/records/names.h"
#include "test/sim/attach_detach.h"
#include "test/sim/invariant.h"
#include "test/sim/kube/kinds.h"
#include "test/sim/record.h"
#include "test/sim/restored_volume.h"
#include "test/sim/workload.h"
#include "test/sim/world.h"

enum { BY_HAND_MS = 2 * 60 * 1000 };
enum { MORE_GIB = 50, BEYOND_GIB = 4200 };
enum { ROLL_MOST_MS = 5 * 60 * 1000, ROLL_LOOK_MS = 2000 };

static void create(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    workload_draw(sim->world, &random);
}

static void create_block(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    workload_draw_block(sim->world, &random);
}

static void create_copy(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    struct workload *workload = workload_draw(sim->world, &random);
    if (workload)
        workload->copies = true;
}

static void scale(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    struct workload *workload = workload_any(sim->world, &random);
    if (workload)
        workload_scale(workload, (unsigned)random_below(&random, WORKLOAD_PODS + 1));
}

/* Some clusters are emptier for it; the others get another one. */
static void delete (struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    struct workload *workload = workload_any(sim->world, &random);
    if (workload)
        workload_delete(workload, random_below(&random, 4) > 0);
}

/* ---- one pod ---- */

static struct pod *any_pod(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    struct workload *workload = workload_any(sim->world, &random);
    return workload ? workload_any_pod(workload, &random) : NULL;
}

static void restart(struct sim *sim, const struct incident *incident)
{
    struct pod *pod = any_pod(sim, incident);

    if (pod)
        pod_delete(pod);
}

/* Its successor goes elsewhere. */
static void move(struct sim *sim, const struct incident *incident)
{
    struct pod *pod = any_pod(sim, incident);

    if (!pod)
        return;
    pod->workload->avoids[pod->ordinal] = pod->machine;
    pod_delete(pod);
}

/* `kubectl delete --force`: nobody waits for its node, which may go on running it. */
static void force(struct sim *sim, const struct incident *incident)
{
    struct pod *pod = any_pod(sim, incident);

    if (pod)
        pod_remove(pod);
}

/* ---- all pods of a workload, one after the other ---- */

static struct pod *find_old(const struct workload *workload, unsigned ordinal, uint64_t began)
{
    LIST_FOREACH(&workload->world->pods, link) {
        struct pod *pod = POD_OF(link);

        if (pod->workload == workload && pod->ordinal == ordinal && pod->created <= began)
            return pod;
    }
    return NULL;
}

static bool is_replaced(const struct workload *workload, unsigned ordinal, uint64_t began)
{
    LIST_FOREACH(&workload->world->pods, link) {
        const struct pod *pod = POD_OF(link);

        if (pod->workload == workload && pod->ordinal == ordinal && pod->created > began &&
            pod->runs)
            return true;
    }
    return ordinal >= workload->replicas;
}

static void roll_in_turn(struct task *self, void *arg)
{
    struct workload *workload = arg;
    struct world *world = workload->world;
    uint64_t began = world_now(world);
    struct err *err = NULL;

    for (unsigned ordinal = 0; !err && ordinal < workload->replicas; ordinal++) {
        uint64_t until = world_now(world) + ROLL_MOST_MS;
        struct pod *pod = find_old(workload, ordinal, began);

        if (pod)
            pod_delete(pod);
        while (!err && !is_replaced(workload, ordinal, began) && world_now(world) < until)
            err = task_sleep(self, ROLL_LOOK_MS);
    }
    err_free(err);
}

static void roll(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    struct workload *workload = workload_any(sim->world, &random);
    if (workload)
        group_spawn(&sim->tasks, "roll", roll_in_turn, workload);
}

/* ---- volumes ---- */

/* As a person changes it, in the AzVolume. */
static void change_replicas(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    struct workload *workload = workload_any(sim->world, &random);
    struct volume *volume = workload ? workload->volumes[0] : NULL;
    if (!volume || volume->phase != VOLUME_BOUND || volume->wish.block)
        return;
    volume->wish.replicas = (unsigned)random_below(&random, volume->wish.max_shares);
    sim_note(sim, "volume %s is to have %u replicas", volume->pv, volume->wish.replicas);
    const struct volume_record *record = record_volume(sim, volume->disk);
    if (!record)
        return;
    world_patch(sim->world, &AZ_VOLUMES, WORLD_NAMESPACE, record->name, NULL,
                json_pack("{s:{s:i}}", "spec", "maxMountReplicaCount", (int)volume->wish.replicas));
}

/* One that is in somebody's hands, or with `leaving` also one that is about to go. */
static struct volume *any_volume(struct sim *sim, struct random *random, bool leaving)
{
    struct volume *found = NULL;
    unsigned n = 0;

    LIST_FOREACH(&sim->world->volumes, link) {
        struct volume *volume = VOLUME_OF(link);

        bool stays = volume->phase == VOLUME_BOUND && !volume->delete_wanted;

        if ((stays || (leaving && volume->phase != VOLUME_GONE)) && volume->disk &&
            random_below(random, ++n) == 0)
            found = volume;
    }
    return found;
}

/* Some ask for a size that takes a disk beyond 4 TiB. And while an owner still waits for what he
 * has asked for, he may be content with less, though not with less than there is. */
static void grow_claim(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    struct volume *volume = any_volume(sim, &random, false);
    if (!volume)
        return;
    int64_t waits_for = volume->wanted_gib - volume->gib;
    if (waits_for > 1 && random_below(&random, 2) == 0) {
        volume_request(volume, volume->gib + 1 + (int64_t)random_below(&random, waits_for - 1));
        return;
    }
    int64_t more =
        random_below(&random, 8) == 0 ? BEYOND_GIB : 1 + (int64_t)random_below(&random, MORE_GIB);
    int64_t least = waits_for > 0 ? volume->wanted_gib : volume->gib;
    volume_request(volume, least + more);
}

/* Kinds with the redundancy of the disk; once it is a PremiumV2_LRS disk, it stays one. */
static void modify_claim(struct sim *sim, const struct incident *incident)
{
    static const char *const local[] = {"Premium_LRS", "StandardSSD_LRS", "Premium_LRS",
                                        "StandardSSD_LRS", "PremiumV2_LRS"};
    static const char *const redundant[] = {"Premium_ZRS", "StandardSSD_ZRS"};
    struct random random;

    sim_choices(incident, &random);
    struct volume *volume = any_volume(sim, &random, false);
    const struct disk *disk = volume ? disk_find(sim->azure, volume->disk) : NULL;
    if (!disk || disk->spec.sku->family == DISK_PREMIUM_V2)
        return;
    volume_request_sku(volume, disk->spec.sku->zone_redundant
                                   ? redundant[random_below(&random, COUNT_OF(redundant))]
                                   : local[random_below(&random, COUNT_OF(local))]);
}

/* ---- snapshots ---- */

static void take_snapshot(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    const struct volume *volume = any_volume(sim, &random, false);
    if (volume)
        snapshotter_take(volume, random_below(&random, 4) == 0 ? "West Europe" : NULL);
}

static void delete_snapshot(struct sim *sim, const struct incident *incident)
{
    struct volume_snapshot *found = NULL;
    struct random random;
    unsigned n = 0;

    sim_choices(incident, &random);
    LIST_FOREACH(&sim->world->snapshots, link) {
        if (!SNAPSHOT_OF(link)->delete_wanted && random_below(&random, ++n) == 0)
            found = SNAPSHOT_OF(link);
    }
    if (found)
        snapshotter_delete(found);
}

/* ---- objects, by hand ---- */

/* A VolumeAttachment for a node whose pods do not want the volume, while another node has it, or
 * the next time that Kubernetes makes one, which does not know of it. It may stay for a while. */
static void attach_elsewhere(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    struct volume *volume = any_volume(sim, &random, false);
    uint64_t duration_ms = random_below(&random, BY_HAND_MS);
    if (!volume)
        return;
    if (random_below(&random, 2) == 0)
        volume->by_hand_ms = duration_ms;
    else
        publication_by_hand(volume, duration_ms);
}

/* The driver makes it anew: from the PersistentVolume, or to delete the disk. */
static void delete_az_volume(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    struct volume *volume = any_volume(sim, &random, true);
    if (!volume)
        return;
    const struct volume_record *record = record_volume(sim, volume->disk);
    sim_note(sim, "by hand: AzVolume %s is deleted",
             record ? record->name : volume_disk_name(volume));
    sim->world->records_lost = true;
    if (record)
        world_delete(sim->world, &AZ_VOLUMES, WORLD_NAMESPACE, record->name);
}

/* An attached primary's finalizer may be taken away too: the object is gone at once, and the disk
 * stays where it is. (Of any other that is so lost, nobody could know whose its disk is.) */
static void delete_attachment(struct sim *sim, const struct incident *incident)
{
    struct random random;
    size_t n = kube_server_count(sim->kube, &AZ_VOLUME_ATTACHMENTS);

    sim_choices(incident, &random);
    if (n == 0)
        return;
    const json_t *object =
        kube_server_at(sim->kube, &AZ_VOLUME_ATTACHMENTS, (size_t)random_below(&random, n));
    const json_t *spec = json_object_get(object, "spec");
    const char *key =
        json_string_value(json_object_get(json_object_get(object, "metadata"), "name"));
    CLEANUP(freep) char *name = mem_strdup(key);
    CLEANUP(freep)
    char *disk = resource_key(json_string_value(json_object_get(spec, "volume_id")));
    const char *node = json_string_value(json_object_get(spec, "nodeName"));
    const struct record *record = record_find(sim, disk, node);
    bool forced = record && record->primary && !record->deleting &&
                  strcmp(record->state, "Attached") == 0 && random_below(&random, 2) == 0;
    sim_note(sim, "by hand: AzVolumeAttachment %s is deleted%s", name,
             forced ? ", and its finalizer" : "");
    invariants_deleted_by_hand(sim, disk, node);
    world_delete(sim->world, &AZ_VOLUME_ATTACHMENTS, WORLD_NAMESPACE, name);
    if (forced)
        world_patch(sim->world, &AZ_VOLUME_ATTACHMENTS, WORLD_NAMESPACE, name, NULL,
                    json_pack("{s:{s:n}}", "metadata", "finalizers"));
}

static void take_finalizers(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    sim->world->finalizers_taken = true;
}

static void leave_finalizers(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    sim->world->finalizers_taken = false;
}

static const struct incident_kind workload_kinds[] = {
    {.name = "workload-create", .begin = create},
    {.name = "workload-create-block", .begin = create_block},
    {.name = "workload-create-copy", .begin = create_copy},
    {.name = "workload-scale", .begin = scale},
    {.name = "workload-roll", .begin = roll},
    {.name = "workload-delete", .begin = delete},
    {.name = "workload-change-replicas", .begin = change_replicas},
    {.name = "claim-grows", .begin = grow_claim},
    {.name = "claim-modified", .begin = modify_claim},
    {.name = "snapshot-taken", .begin = take_snapshot},
    {.name = "snapshot-deleted", .begin = delete_snapshot},
    {.name = "pod-restart", .begin = restart},
    {.name = "pod-move", .begin = move},
    {.name = "pod-force-delete", .begin = force, .bad = true},
    {.name = "volume-attached-by-hand", .begin = attach_elsewhere, .bad = true},
    {.name = "volume-attachments-removed-by-hand",
     .begin = take_finalizers,
     .end = leave_finalizers,
     .least_ms = 60 * 1000,
     .most_ms = 5 * 60 * 1000,
     .bad = true},
    {.name = "volume-record-deleted-by-hand", .begin = delete_az_volume, .bad = true},
    {.name = "volume-restored", .begin = restore_volume, .bad = true},
    {.name = "attachment-record-deleted-by-hand", .begin = delete_attachment, .bad = true},
};

const struct incident_table WORKLOAD_INCIDENTS = {.kinds = workload_kinds,
                                                  .n = COUNT_OF(workload_kinds)};
