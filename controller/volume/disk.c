#include "controller/volume/disk.h"

#include <string.h>

#include "controller/attachment/disk_look.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/disk_sku.h"
#include "provisioner-lib/records/names.h"

enum { ZONES = 3 /* of an Azure region that has any */ };

/* ---- one that is to be made ---- */

/* The zone that is asked for: the first preferred one, else the first requisite one, of those that
 * have such disks. Without any of them Azure has the last word. */
static const char *wanted_zone(const struct controller *controller, const Api__AzVolume *volume,
                               const struct disk_limits *limits)
{
    const Api__AzTopologyRequirement *r = volume->spec->accessibility_requirements;
    CLEANUP(freep) char *key = mem_printf(ZONE_OF_DRIVER, controller->settings.driver_name);
    Api__AzTopology *const *lists[] = {r ? r->preferred : NULL, r ? r->requisite : NULL};
    size_t counts[] = {r ? r->n_preferred : 0, r ? r->n_requisite : 0};
    const char *first = NULL;

    for (size_t l = 0; l < COUNT_OF(lists); l++)
        for (size_t i = 0; i < counts[l]; i++) {
            const char *zone = KUBE_MAP_GET(lists[l][i]->segments, lists[l][i]->n_segments, key);

            if (!zone || !*zone)
                continue;
            if (disk_limits_in_zone(limits, zone))
                return zone;
            first = first ? first : zone;
        }
    return first ? first : "";
}

struct cloud_disk_spec volume_disk_spec(const struct controller *controller,
                                        const Api__AzVolume *volume,
                                        const struct volume_parameters *parameters,
                                        const struct disk_limits *limits)
{
    bool zonal = !disk_sku_is_zone_redundant(parameters->sku);

    return (struct cloud_disk_spec){
        .name = volume->spec->volume_name,
        .size_gib = volume_requested_gib(volume),
        .zone = zonal ? wanted_zone(controller, volume, limits) : "",
        .source_id = volume_source_id(volume),
        .parameters = parameters,
        .creator = controller->creator,
    };
}

/* ---- one that is there ---- */

static json_t *topology_json(const struct controller *controller, const char *zone)
{
    CLEANUP(freep) char *key = mem_printf(ZONE_OF_DRIVER, controller->settings.driver_name);

    return json_pack("{s:{s:s}}", "segments", key, zone);
}

/* From where the disk can be reached. A zone-redundant one from every zone of its region, and from
 * VMs that are in none. */
static json_t *topologies_json(const struct controller *controller, const struct cloud_disk *disk)
{
    json_t *list = json_array();

    for (int zone = 1; disk_sku_is_zone_redundant(disk->sku) && zone <= ZONES; zone++) {
        CLEANUP(freep) char *name = mem_printf("%s-%d", disk->region, zone);

        json_array_append_new(list, topology_json(controller, name));
    }
    json_array_append_new(list, topology_json(controller, disk->zone));
    return list;
}

/* What CSI's caller gets as the volume's context: all that it gave, and the size. */
static json_t *context_json(const Api__AzVolume *volume, const struct cloud_disk *disk)
{
    CLEANUP(freep) char *gib = mem_printf("%lld", (long long)(disk->size_bytes / GIB));
    json_t *context = json_object();

    for (size_t i = 0; i < volume->spec->n_parameters; i++)
        json_object_set_new(context, volume->spec->parameters[i]->key,
                            json_string(volume->spec->parameters[i]->value));
    json_object_set_new(context, "requestedsizegib", json_string(gib));
    return context;
}

static json_t *notes_json(const Api__AzVolume *volume, const struct cloud_disk *disk)
{
    json_t *notes = json_pack("{s:s, s:o, s:s, s:n}", ANNOTATION_DISK_SKU, disk->sku,
                              ANNOTATION_DISK_MAX_SHARES, json_sprintf("%d", disk->max_shares),
                              ANNOTATION_DISK_UNIQUE_ID, disk->unique_id, ANNOTATION_LOOK_REQUEST);

    if (volume_disk_is_another(volume, disk->unique_id)) {
        json_object_set_new(notes, ANNOTATION_FILESYSTEM, json_null());
        json_object_set_new(notes, ANNOTATION_SOURCE_FILESYSTEM, json_null());
        json_object_set_new(notes, ANNOTATION_SOURCE_UUIDS, json_null());
    }
    return notes;
}

json_t *volume_percent_json(const struct cloud_disk *disk)
{
    return disk->percent < 100 ? json_integer(disk->percent) : json_null();
}

json_t *volume_disk_json(const struct controller *controller, const Api__AzVolume *volume,
                         const struct cloud_disk *disk)
{
    return json_pack("{s:s, s:n, s:o, s:o, s:{s:s, s:o, s:I, s:o, s:b}}", "state", "Created",
                     "error", "annotation", notes_json(volume, disk), "completionPercent",
                     volume_percent_json(disk), "detail", "volume_id", disk->id, "parameters",
                     context_json(volume, disk), "capacity_bytes", (json_int_t)disk->size_bytes,
                     "accessible_topology", topologies_json(controller, disk),
                     "node_expansion_required", 0);
}

json_t *volume_disk_changed_json(const struct controller *controller, const Api__AzVolume *volume,
                                 const struct cloud_disk *disk)
{
    json_t *status = volume_disk_json(controller, volume, disk);

    json_object_del(status, "state");
    if (strcmp(volume_state(volume), STATE_UPDATE_FAILED) == 0)
        json_object_del(status, "error");
    return status;
}

static void tell_replaced(const struct controller *controller, const struct kube_object *object,
                          const struct cloud_disk *disk)
{
    events_record(controller->events, &AZ_VOLUMES, object->metadata, EVENT_WARNING, "DiskReplaced",
                  "Read",
                  "Disk %s has been replaced by a new disk of the same name. The record of the "
                  "previous disk's file system has been discarded",
                  disk->id);
}

static void tell_fewer_shares(const struct controller *controller, const struct kube_object *object,
                              const struct cloud_disk *disk)
{
    events_record(controller->events, &AZ_VOLUMES, object->metadata, EVENT_WARNING, "FewerShares",
                  "Read",
                  "Disk %s has maxShares %d, and the volume's parameter maxShares is %s: it has "
                  "only as many replicas as the disk allows. To have all of them, raise maxShares "
                  "of the disk while no VM has it",
                  disk->id, disk->max_shares, volume_parameter(as_volume(object), "maxShares"));
}

void volume_disk_tell(const struct controller *controller, const struct kube_object *object,
                      const struct cloud_disk *disk)
{
    const Api__AzVolume *volume = as_volume(object);
    bool is_news = volume_disk(volume).max_shares != disk->max_shares;

    if (volume_disk_is_another(volume, disk->unique_id))
        tell_replaced(controller, object, disk);
    if (is_news && disk->max_shares < (int)volume_max_shares_wanted(volume))
        tell_fewer_shares(controller, object, disk);
}

struct err *volume_disk_read(struct task *self, struct controller *controller,
                             const struct kube_object *object)
{
    struct cloud *cloud = controller->cloud;
    const Api__AzVolume *volume = as_volume(object);
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};

    TRY(cloud->ops->disk_get(self, cloud, volume->status->detail->volume__id, &disk));
    if (!disk_differs(volume, &disk))
        return NULL;
    volume_disk_tell(controller, object, &disk);
    json_t *status = volume_disk_changed_json(controller, volume, &disk);
    return cached_patch_status(self, controller->leader_kube, controller->volumes, object,
                               if_same(object, json_pack("{s:o}", "status", status)), NULL);
}
