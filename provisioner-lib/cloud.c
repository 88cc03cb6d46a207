#include "provisioner-lib/cloud.h"

#include <stdlib.h>

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

void cloud_snapshot_fini(struct cloud_snapshot *snapshot)
{
    free(snapshot->id);
    free(snapshot->disk_id);
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
