#include "controller/volume/disk_to_delete.h"

#include "controller/volume/adoption.h"
#include "controller/volume/disk.h"
#include "controller/volume/failed_creation.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"

static void tell_left(const struct controller *controller, const struct kube_object *object,
                      const char *id, const char *why)
{
    log_warning("%s: its creation has failed by its record, but disk %s may be in use: %s. It is "
                "not deleted",
                object->key, id, why);
    events_record(controller->events, &AZ_VOLUMES, object->metadata, EVENT_WARNING, "DiskLeft",
                  "Delete",
                  "The creation of the volume has failed by its record, which may be of a backup, "
                  "but disk %s may be in use: %s. The disk is not deleted. Make a PersistentVolume "
                  "of it if its data is needed, and delete it otherwise",
                  id, why);
}

/* One of somebody else has made the creation fail. */
static bool is_to_go(const struct controller *controller, const struct kube_object *object,
                     const struct cloud_disk_spec *spec, const struct cloud_disk *disk)
{
    const Api__AzVolume *volume = as_volume(object);

    if (!disk_is_for_volume(&disk->mark, &spec->creator, spec->name, cloud_disk_spec_pv(spec)))
        return false;
    const char *used =
        creation_is_forgotten(volume) ? failed_creation_disk_is_used(volume, disk) : NULL;
    if (used)
        tell_left(controller, object, disk->id, used);
    return !used;
}

static struct err *find_unrecorded(struct task *self, struct controller *controller,
                                   const struct kube_object *object,
                                   const struct cloud_disk_spec *spec, char **ret_id)
{
    struct cloud *cloud = controller->cloud;
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};
    CLEANUP(freep) char *id = NULL;

    TRY(cloud->ops->disk_id(cloud, spec, &id));
    struct err *err = cloud->ops->disk_get(self, cloud, id, &disk);
    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        return NULL;
    }
    TRY(err);
    *ret_id = is_to_go(controller, object, spec, &disk) ? TAKE_PTR(id) : NULL;
    return NULL;
}

struct err *volume_disk_to_delete(struct task *self, struct controller *controller,
                                  const struct kube_object *object, char **ret_id)
{
    const Api__AzVolume *volume = as_volume(object);
    const char *recorded = adoption_disk(controller, volume);
    CLEANUP(volume_parameters_fini) struct volume_parameters parameters = {0};

    *ret_id = NULL;
    if (recorded) {
        *ret_id = creation_is_forgotten(volume) ? NULL : mem_strdup(recorded);
        return NULL;
    }
    CLEANUP(err_freep) struct err *invalid = volume_parse_parameters(volume, &parameters);
    if (invalid)
        return NULL;
    const struct cloud_disk_spec spec =
        volume_disk_spec(controller, volume, &parameters, &(struct disk_limits){0});
    return find_unrecorded(self, controller, object, &spec, ret_id);
}
