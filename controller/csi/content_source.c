#include "controller/csi/content_source.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "controller/csi/existing_snapshot.h"
#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/disk_sku.h"
#include "provisioner-lib/region.h"

/* What is known of a source. */
struct source {
    int64_t size_bytes;
    const char *zone; /* "": in none, or any will do */
};

static bool is_snapshot(const Csi__V1__VolumeContentSource *source)
{
    return source->type_case == CSI__V1__VOLUME_CONTENT_SOURCE__TYPE_SNAPSHOT;
}

const char *content_source_id(const Csi__V1__VolumeContentSource *source)
{
    if (is_snapshot(source))
        return source->snapshot->snapshot_id;
    return source->type_case == CSI__V1__VOLUME_CONTENT_SOURCE__TYPE_VOLUME
               ? source->volume->volume_id
               : "";
}

/* ---- the source ---- */

/* It would have to be copied back before. */
static struct err *check_region(const struct controller *controller, const char *id,
                                const char *region, const struct volume_parameters *parameters)
{
    const char *wanted = controller->cloud->ops->disk_region(controller->cloud, parameters);

    if (!*region || region_equal(region, wanted))
        return NULL;
    return err_new(
        ERR_INVALID,
        "snapshot %s is in region %s, and the volume is to be in %s: Azure creates disks "
        "only from snapshots of their own region. Create the volume in a cluster in %s, "
        "or from a snapshot whose VolumeSnapshotClass has no other location",
        id, region, wanted, region);
}

static struct err *read_snapshot(struct task *self, struct controller *controller,
                                 struct arena *arena, const struct volume_parameters *parameters,
                                 const char *id, struct source *ret)
{
    Csi__V1__Snapshot *snapshot;
    const char *region;

    TRY(csi_locate_snapshot(self, controller, arena, id, &snapshot, &region));
    if (!snapshot)
        return err_new(ERR_NOT_FOUND, "there is no snapshot %s", id);
    TRY(check_region(controller, id, region, parameters));
    if (!snapshot->ready_to_use)
        return err_new(ERR_BUSY, "the data of snapshot %s has not been copied yet", id);
    *ret = (struct source){.size_bytes = snapshot->size_bytes, .zone = ""};
    return NULL;
}

static struct err *read_disk(struct task *self, struct controller *controller, struct arena *arena,
                             const char *id, struct source *ret)
{
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};
    struct err *err = controller->cloud->ops->disk_get(self, controller->cloud, id, &disk);

    if (err && err_kind(err) == ERR_INVALID) /* an id that no disk can have */
        return err_as(err, ERR_NOT_FOUND);
    TRY(err);
    if (disk.percent < 100)
        return err_new(ERR_BUSY, "disk %s is being copied or converted itself; %d %% is done", id,
                       disk.percent);
    *ret = (struct source){.size_bytes = disk.size_bytes, .zone = arena_strdup(arena, disk.zone)};
    return NULL;
}

/* ---- its size ---- */

static struct err *apply_size(struct arena *arena, int64_t size_bytes,
                              Csi__V1__CreateVolumeRequest *io)
{
    const Csi__V1__CapacityRange *wanted = io->capacity_range;
    Csi__V1__CapacityRange *range = arena_alloc(arena, sizeof *range);

    csi__v1__capacity_range__init(range);
    range->required_bytes = size_bytes;
    if (wanted && wanted->required_bytes > size_bytes)
        range->required_bytes = wanted->required_bytes;
    range->limit_bytes = wanted ? wanted->limit_bytes : 0;
    if (range->limit_bytes > 0 && size_bytes > range->limit_bytes)
        return err_new(ERR_OUT_OF_RANGE,
                       "volume_content_source has %" PRId64 " bytes, which exceed limit_bytes "
                       "%" PRId64,
                       size_bytes, range->limit_bytes);
    io->capacity_range = range;
    return NULL;
}

/* ---- its zone ---- */

static const char *zone_in(const Csi__V1__Topology *topology, const char *key)
{
    for (size_t i = 0; i < topology->n_segments; i++)
        if (strcmp(topology->segments[i]->key, key) == 0)
            return topology->segments[i]->value;
    return NULL;
}

static Csi__V1__Topology *find_zone(Csi__V1__Topology *const *topologies, size_t n, const char *key,
                                    const char *zone)
{
    for (size_t i = 0; i < n; i++) {
        const char *has = zone_in(topologies[i], key);

        if (has && strcmp(has, zone) == 0)
            return topologies[i];
    }
    return NULL;
}

/* The topologies of the request are what there is to choose from: one of them is the zone's, or the
 * volume could not be used where it is wanted. */
static struct err *apply_zone(const struct controller *controller, struct arena *arena,
                              const char *zone, Csi__V1__CreateVolumeRequest *io)
{
    const Csi__V1__TopologyRequirement *wanted = io->accessibility_requirements;
    CLEANUP(freep) char *key = mem_printf(ZONE_OF_DRIVER, controller->settings.driver_name);

    if (!wanted || wanted->n_requisite + wanted->n_preferred == 0)
        return err_new(
            ERR_INVALID,
            "accessibility_requirements is missing: the disk of volume_content_source is "
            "in zone %s, and Azure copies it only there",
            zone);
    Csi__V1__Topology *found = find_zone(wanted->preferred, wanted->n_preferred, key, zone);
    if (!found)
        found = find_zone(wanted->requisite, wanted->n_requisite, key, zone);
    if (!found)
        return err_new(ERR_EXHAUSTED,
                       "the volume is wanted in other zones than %s, where the disk of "
                       "volume_content_source is, and Azure copies a disk only within its zone. "
                       "Create the volume from a snapshot instead, or let its pod run in zone %s",
                       zone, zone);
    Csi__V1__TopologyRequirement *narrowed = arena_alloc(arena, sizeof *narrowed);
    csi__v1__topology_requirement__init(narrowed);
    narrowed->requisite = arena_alloc(arena, sizeof *narrowed->requisite);
    narrowed->requisite[narrowed->n_requisite++] = found;
    io->accessibility_requirements = narrowed;
    return NULL;
}

struct err *content_source_apply(struct task *self, struct controller *controller,
                                 struct arena *arena, const struct volume_parameters *parameters,
                                 Csi__V1__CreateVolumeRequest *io)
{
    const Csi__V1__VolumeContentSource *wanted = io->volume_content_source;
    struct source source = {0};

    if (!wanted)
        return NULL;
    const char *id = content_source_id(wanted);
    if (!id[0])
        return err_new(ERR_INVALID, "volume_content_source names neither a snapshot nor a volume");
    TRY(is_snapshot(wanted) ? read_snapshot(self, controller, arena, parameters, id, &source)
                            : read_disk(self, controller, arena, id, &source));
    TRY(apply_size(arena, source.size_bytes, io));
    return source.zone[0] && !disk_sku_is_zone_redundant(parameters->sku)
               ? apply_zone(controller, arena, source.zone, io)
               : NULL;
}

/* ---- on record ---- */

struct err *content_source_check_same(const Api__AzVolume *volume,
                                      const Csi__V1__CreateVolumeRequest *request)
{
    const char *has = volume_source_id(volume);
    const char *wanted =
        request->volume_content_source ? content_source_id(request->volume_content_source) : NULL;

    if (strcasecmp(has ? has : "", wanted ? wanted : "") == 0)
        return NULL;
    return err_new(ERR_EXISTS, "volume %s already exists, and is a copy of %s, not of %s",
                   request->name, has ? has : "nothing", wanted ? wanted : "nothing");
}

Csi__V1__VolumeContentSource *content_source_of(struct arena *arena, const Api__AzVolume *volume)
{
    const char *id = volume_source_id(volume);

    if (!id)
        return NULL;
    Csi__V1__VolumeContentSource *source = arena_alloc(arena, sizeof *source);
    csi__v1__volume_content_source__init(source);
    if (volume->spec->content_volume_source->content__source == SOURCE_SNAPSHOT) {
        source->type_case = CSI__V1__VOLUME_CONTENT_SOURCE__TYPE_SNAPSHOT;
        source->snapshot = arena_alloc(arena, sizeof *source->snapshot);
        csi__v1__volume_content_source__snapshot_source__init(source->snapshot);
        source->snapshot->snapshot_id = arena_strdup(arena, id);
    } else {
        source->type_case = CSI__V1__VOLUME_CONTENT_SOURCE__TYPE_VOLUME;
        source->volume = arena_alloc(arena, sizeof *source->volume);
        csi__v1__volume_content_source__volume_source__init(source->volume);
        source->volume->volume_id = arena_strdup(arena, id);
    }
    return source;
}
