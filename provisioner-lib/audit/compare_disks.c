/* The volumes against the disks that the cloud has, and these against their owners. */

#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/audit/compare.h"
#include "provisioner-lib/records/names.h"
#include "provisioner-lib/records/volume.h"

struct comparison {
    const struct disk_scan *scan;
    struct findings *ret;
};

static void compare_owners(const struct comparison *comparison, struct kube_object *volume,
                           const struct cloud_disk *disk)
{
    for (size_t i = 0; i < disk->n_instances; i++) {
        const char *id = disk->instances[i];
        const struct foreign_vm *foreign_vm = disk_scan_foreign_vm(comparison->scan, id);

        if (foreign_vm && foreign_vm->exists)
            findings_add(comparison->ret, ATTACHED_OUTSIDE, &AZ_VOLUMES, volume, id,
                         "The disk is attached to %s, which is not a node", id);
        else if (foreign_vm)
            findings_add(comparison->ret, OWNER_GONE, &AZ_VOLUMES, volume, id,
                         "The disk names %s as an owner, but that VM does not exist", id);
    }
}

static void compare_size(const struct comparison *comparison, struct kube_object *object,
                         const struct cloud_disk *disk)
{
    int64_t recorded = as_volume(object)->status->detail->capacity__bytes;

    if (disk->size_bytes <= recorded)
        return;
    findings_add(comparison->ret, SIZE_DIFFERS, &AZ_VOLUMES, object, NULL,
                 "The disk has %lld GiB, and %lld GiB according to the record",
                 (long long)(disk->size_bytes >> 30), (long long)(recorded >> 30));
}

static void compare_shares(const struct comparison *comparison, struct kube_object *object,
                           const struct cloud_disk *disk)
{
    int recorded = volume_disk(as_volume(object)).max_shares;

    if (disk->max_shares == recorded)
        return;
    findings_add(comparison->ret, SHARES_DIFFER, &AZ_VOLUMES, object, NULL,
                 "The disk has maxShares %d, and %d according to the record", disk->max_shares,
                 recorded);
}

static void compare_identity(const struct comparison *comparison, struct kube_object *object,
                             const struct cloud_disk *disk)
{
    const char *recorded = volume_annotation(as_volume(object), ANNOTATION_DISK_UNIQUE_ID);

    if (!volume_disk_is_another(as_volume(object), disk->unique_id))
        return;
    findings_add(comparison->ret, ANOTHER_DISK, &AZ_VOLUMES, object, NULL,
                 "The disk has uniqueId %s, and %s according to the record", disk->unique_id,
                 recorded);
}

/* One that is changed at the driver's request is not on record yet. */
static void compare_disk(const struct comparison *comparison, struct kube_object *object,
                         const struct cloud_disk *disk)
{
    if (strcmp(volume_state(as_volume(object)), STATE_UPDATING) == 0)
        return;
    compare_size(comparison, object, disk);
    compare_shares(comparison, object, disk);
    compare_identity(comparison, object, disk);
}

static void visit_volume(void *ctx, struct kube_object *volume)
{
    const struct comparison *comparison = ctx;
    const char *id = volume_disk_id(volume);

    if (!id || kube_is_deleting(volume->metadata))
        return;
    const struct cloud_disk *disk = disk_scan_find(comparison->scan, id);
    if (disk) {
        compare_owners(comparison, volume, disk);
        compare_disk(comparison, volume, disk);
    } else if (disk_scan_may_list(comparison->scan, id))
        findings_add(comparison->ret, VOLUME_WITHOUT_DISK, &AZ_VOLUMES, volume, NULL,
                     "Disk %s does not exist", id);
}

static bool has_persistent_volume(const struct cluster_source *source, const char *id)
{
    const struct object_list found = source->ops->persistent_volumes_of_disk(source, id);

    for (size_t i = 0; i < found.n; i++) {
        const char *handle = persistent_volume_handle(found.items[i]);

        if (handle && strcasecmp(handle, id) == 0)
            return true;
    }
    return false;
}

/* The AzVolume of that name, which may be of another disk of the name. */
static bool is_being_made(const struct cluster_source *source, const char *volume_name)
{
    const struct kube_object *volume = source->ops->volume(source, volume_name);

    return volume && !volume_disk_id(volume);
}

static bool is_known(const struct cluster_source *source, const char *id)
{
    CLEANUP(freep) char *hashed = volume_name_with_hash(id);
    CLEANUP(freep) char *plain = hashed ? volume_name_without_hash(hashed) : NULL;

    return source->ops->volume_of_disk(source, id) || has_persistent_volume(source, id) ||
           (hashed && (is_being_made(source, plain) || is_being_made(source, hashed)));
}

/* A disk of nobody: made by this driver here, or perhaps here. Another cluster's is that cluster's
 * concern. */
static void tell_unknown(const struct cluster_source *source, const struct cloud_disk *disk,
                         struct findings *ret)
{
    const struct disk_creator creator = {source->driver_name, source->cluster_id};
    enum disk_origin origin = disk_origin_of(&disk->mark, &creator);

    if ((origin != DISK_OWN && origin != DISK_OF_OLDER_DRIVER) || is_known(source, disk->id))
        return;
    findings_add_thing(ret, DISK_WITHOUT_VOLUME, disk->id, "%s, %lld GiB, attached to %zu VMs%s",
                       disk->sku, (long long)(disk->size_bytes >> 30), disk->n_instances,
                       origin == DISK_OWN
                           ? ""
                           : "; it may belong to another cluster, because the earlier version of "
                             "the driver that created it did not record the cluster");
}

static void tell_unlisted(const struct unlisted *unlisted, struct findings *ret)
{
    const char *id = unlisted->disk_id, *end = strstr(id, "/providers/");
    CLEANUP(freep) char *group = mem_strndup(id, end ? (size_t)(end - id) : strlen(id));

    findings_add_thing(ret, DISKS_NOT_LISTED, group, "%s", unlisted->reason);
}

struct err *compare_disks(struct task *self, const struct cluster_source *source,
                          const struct disk_scan *scan, struct findings *ret)
{
    struct comparison comparison = {scan, ret};

    TRY(source->ops->walk(self, source, VOLUMES_OF, visit_volume, &comparison));
    for (size_t i = 0; i < scan->disks.n; i++) {
        tell_unknown(source, &scan->disks.items[i], ret);
        TRY(source->ops->pause(self, i + 1));
    }
    for (size_t i = 0; i < scan->n_unlisted; i++)
        tell_unlisted(&scan->unlisted[i], ret);
    return NULL;
}
