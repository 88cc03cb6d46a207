#include "provisioner-lib/cloud.h"

#include <stdlib.h>
#include <string.h>
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

/* ---- instances ---- */

/* The slots come first, then the texts. */
struct cloud_instance_memory {
    size_t n_sharing;
    struct cloud_slot slots[];
};

static size_t size_of(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static const char *put(char **end, const char *text)
{
    char *begin = *end;

    if (!text)
        return NULL;
    *end = stpcpy(begin, text) + 1;
    return begin;
}

struct cloud_instance cloud_instance_copy(const struct cloud_instance *instance)
{
    size_t n = instance->n_slots, size = sizeof *instance->memory + n * sizeof *instance->slots;
    struct cloud_instance copy = *instance;

    size += size_of(copy.id) + size_of(copy.host) + size_of(copy.zone) + size_of(copy.size);
    for (size_t i = 0; i < n; i++)
        size += size_of(copy.slots[i].disk_id);
    copy.memory = mem_alloc(size);
    copy.memory->n_sharing = 1;
    char *end = (char *)&copy.memory->slots[n];
    copy.id = put(&end, copy.id);
    copy.host = put(&end, copy.host);
    copy.zone = put(&end, copy.zone);
    copy.size = put(&end, copy.size);
    for (size_t i = 0; i < n; i++) {
        copy.memory->slots[i] = copy.slots[i];
        copy.memory->slots[i].disk_id = put(&end, copy.slots[i].disk_id);
    }
    copy.slots = copy.memory->slots;
    return copy;
}

struct cloud_instance cloud_instance_share(const struct cloud_instance *instance)
{
    if (instance->memory)
        instance->memory->n_sharing++;
    return *instance;
}

void cloud_instance_fini(struct cloud_instance *instance)
{
    if (instance->memory && --instance->memory->n_sharing == 0)
        free(instance->memory);
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
