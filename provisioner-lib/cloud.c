#include "provisioner-lib/cloud.h"

#include <stdlib.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/region.h"

void cloud_disk_fini(struct cloud_disk *disk)
{
    for (size_t i = 0; i < disk->n_instances; i++)
        free(disk->instances[i]);
    free(disk->instances);
    free(disk->id);
    free(disk->unique_id);
    free(disk->sku);
    free(disk->region);
    free(disk->zone);
    free(disk->source_id);
    disk_mark_fini(&disk->mark);
    *disk = (struct cloud_disk){0};
}

void cloud_disks_fini(struct cloud_disks *disks)
{
    for (size_t i = 0; i < disks->n; i++)
        cloud_disk_fini(&disks->items[i]);
    free(disks->items);
    *disks = (struct cloud_disks){0};
}

void cloud_instance_fini(struct cloud_instance *instance)
{
    for (size_t i = 0; i < instance->n_slots; i++)
        free(instance->slots[i].disk_id);
    free(instance->slots);
    free(instance->id);
    free(instance->host);
    free(instance->zone);
    free(instance->size);
    *instance = (struct cloud_instance){0};
}

/* One that is not copied is in the region of its disk, which is not known here. */
static bool is_where_it_should_be(const struct cloud_snapshot *snapshot,
                                  const struct cloud_snapshot_spec *spec)
{
    const char *location = spec->parameters->location;

    return snapshot->is_copy == (spec->source_id != NULL) &&
           (!location || region_equal(snapshot->region, location));
}

struct err *cloud_snapshot_check_own(const struct cloud_snapshot *snapshot,
                                     const struct cloud_snapshot_spec *spec)
{
    if (!disk_is_for_volume(&snapshot->mark, &spec->creator, spec->name, NULL)) {
        CLEANUP(freep) char *creator = disk_origin_text(&snapshot->mark, &spec->creator);

        return err_new(ERR_EXISTS, "snapshot %s already exists, and %s", snapshot->id, creator);
    }
    if (strcasecmp(snapshot->disk_id, spec->disk_id) != 0)
        return err_new(ERR_EXISTS, "snapshot %s already exists, and is of disk %s, not of %s",
                       snapshot->id, snapshot->disk_id, spec->disk_id);
    return NULL;
}

struct err *cloud_snapshot_check_same(const struct cloud_snapshot *snapshot,
                                      const struct cloud_snapshot_spec *spec)
{
    TRY(cloud_snapshot_check_own(snapshot, spec));
    if (!is_where_it_should_be(snapshot, spec))
        return err_new(ERR_EXISTS, "snapshot %s already exists, in %s", snapshot->id,
                       snapshot->region);
    return NULL;
}

void cloud_snapshot_fini(struct cloud_snapshot *snapshot)
{
    free(snapshot->id);
    free(snapshot->disk_id);
    free(snapshot->region);
    free(snapshot->failure);
    disk_mark_fini(&snapshot->mark);
    *snapshot = (struct cloud_snapshot){0};
}

void cloud_snapshots_fini(struct cloud_snapshots *snapshots)
{
    for (size_t i = 0; i < snapshots->n; i++)
        cloud_snapshot_fini(&snapshots->items[i]);
    free(snapshots->items);
    *snapshots = (struct cloud_snapshots){0};
}
