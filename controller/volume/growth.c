#include "controller/volume/growth.h"

#include <string.h>

#include "controller/volume/disk.h"
#include "controller/volume/user.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/disk_sku.h"
#include "provisioner-lib/records/snapshot.h"

/* ---- when ---- */

static bool grows_attached(const Api__AzVolume *volume, int64_t to_gib)
{
    const struct caching_disk disk = volume_disk(volume);

    return disk.sku && disk_grows_attached(disk.sku, disk.max_shares, disk.size_gib, to_gib);
}

/* A snapshot that would fail if the disk, which is of this kind, grew; NULL if there is none. */
static const Api__AzSnapshot *pending_snapshot(const struct controller *controller,
                                               const Api__AzVolume *volume, const char *sku)
{
    CLEANUP(freep) char *key = mem_lower(volume->status->detail->volume__id);
    size_t n;
    struct kube_object *const *snapshots = store_find(controller->snapshots_by_disk, key, &n);

    for (size_t i = 0; sku && disk_sku_is_provisioned(sku) && i < n; i++)
        if (snapshot_is_pending(as_snapshot(snapshots[i])))
            return as_snapshot(snapshots[i]);
    return NULL;
}

void growth_gather(const struct controller *controller, const Api__AzVolume *volume,
                   struct volume_snapshot *ret)
{
    int64_t to_gib = volume_requested_gib(volume);

    ret->updating = strcmp(volume_state(volume), STATE_UPDATING) == 0;
    if (!ret->updating)
        return;
    ret->size_differs = to_gib > volume_disk(volume).size_gib;
    ret->grows_attached = grows_attached(volume, to_gib);
    ret->copying = volume_percent(volume) < 100 ||
                   pending_snapshot(controller, volume, volume_disk(volume).sku);
}

static struct err *check_not_copying(const struct controller *controller,
                                     const Api__AzVolume *volume)
{
    const Api__AzSnapshot *snapshot = pending_snapshot(controller, volume, volume_disk(volume).sku);
    const char *name = volume->metadata->name;

    if (volume_percent(volume) < 100)
        return err_new(ERR_PRECONDITION,
                       "volume %s cannot grow now: Azure is still copying data to its disk, and %d "
                       "%% is done; it grows as soon as all is",
                       name, volume_percent(volume));
    if (!snapshot)
        return NULL;
    return err_new(ERR_PRECONDITION,
                   "volume %s cannot grow now: Azure is still copying data of its disk to snapshot "
                   "%s, which would fail, and %d %% is done; it grows as soon as all is",
                   name, snapshot->spec->snapshot_name, snapshot_percent_of_disk(snapshot));
}

struct err *growth_check_possible(const struct controller *controller,
                                  const struct kube_object *object, int64_t to_gib)
{
    TRY(check_not_copying(controller, as_volume(object)));
    if (grows_attached(as_volume(object), to_gib))
        return NULL;
    return volume_user_check_none(
        controller, object, "grow",
        volume_disk(as_volume(object)).max_shares > 1
            ? "a shared disk (maxShares above 1) can grow only while no VM has it"
            : "a disk can grow beyond 4095 GiB only while no VM has it");
}

/* ---- what is on record ---- */

json_t *growth_wish_json(int64_t required_bytes, int64_t limit_bytes)
{
    return json_pack("{s:{s:{s:I, s:I}}}", "spec", "capacityRange", "required_bytes",
                     (json_int_t)required_bytes, "limit_bytes", (json_int_t)limit_bytes);
}

json_t *growth_begin_json(void)
{
    return json_pack("{s:{s:s, s:n}}", "status", "state", STATE_UPDATING, "error");
}

struct growth {
    struct controller *controller;
    const struct kube_object *volume;
};

/* Even if somebody has written to the AzVolume meanwhile: the disk has that size. */
static struct err *record(struct task *self, void *ctx, const struct cloud_disk *disk)
{
    const struct growth *growth = ctx;
    struct controller *controller = growth->controller;
    json_t *status = volume_disk_changed_json(controller, as_volume(growth->volume), disk);

    return cached_patch_status(self, controller->leader_kube, controller->volumes, growth->volume,
                               if_same(growth->volume, json_pack("{s:o}", "status", status)), NULL);
}

/* Until it is the disk's turn, a snapshot may have been begun; and the disk may have been converted
 * without its being on record, by somebody else, or because the answer to that was lost. */
static struct err *check_before(void *ctx, const struct cloud_disk *disk)
{
    const struct growth *growth = ctx;
    const Api__AzVolume *volume = as_volume(growth->volume);
    const Api__AzSnapshot *snapshot = pending_snapshot(growth->controller, volume, disk->sku);

    return snapshot ? err_new(ERR_BUSY, "snapshot %s of disk %s has been begun meanwhile",
                              snapshot->spec->snapshot_name, volume->status->detail->volume__id)
                    : NULL;
}

struct err *growth_carry_out(struct task *self, struct controller *controller,
                             const struct kube_object *object)
{
    struct cloud *cloud = controller->cloud;
    struct growth growth = {controller, object};

    return cloud->ops->disk_change(
        self, cloud, as_volume(object)->status->detail->volume__id,
        &(struct cloud_disk_change){.size_gib = volume_requested_gib(as_volume(object)),
                                    .check = check_before,
                                    .record = record,
                                    .ctx = &growth});
}
