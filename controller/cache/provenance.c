#include "controller/cache/provenance.h"

#include "controller/cache/volume_name.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/records/snapshot.h"

const char *filesystem_of_disk(const struct controller *controller, const char *disk_id)
{
    size_t n;
    struct kube_object *const *volumes = volumes_of_disk(controller, disk_id, &n);
    const Api__AzVolume *volume = n == 1 ? as_volume(volumes[0]) : NULL;
    const char *own = volume ? volume_annotation(volume, ANNOTATION_FILESYSTEM) : NULL;

    return own || !volume ? own : volume_annotation(volume, ANNOTATION_SOURCE_FILESYSTEM);
}

struct err *filesystem_of_source(struct task *self, const struct controller *controller,
                                 const Api__AzVolume *volume, char **ret)
{
    const char *id = volume_source_id(volume);
    CLEANUP(cloud_snapshot_fini) struct cloud_snapshot seen = {0};

    *ret = NULL;
    if (!id)
        return NULL;
    if (volume->spec->content_volume_source->content__source != SOURCE_SNAPSHOT) {
        *ret = mem_strdup(filesystem_of_disk(controller, id));
        return NULL;
    }
    const struct kube_object *snapshot = snapshot_of_id(controller, id);
    if (snapshot && snapshot_is_created(as_snapshot(snapshot))) {
        *ret = mem_strdup(as_snapshot(snapshot)->status->filesystem);
        return NULL;
    }
    TRY(err_unless(controller->cloud->ops->snapshot_get(self, controller->cloud, id, &seen),
                   ERR_NOT_FOUND));
    *ret = seen.disk_id ? mem_strdup(filesystem_of_disk(controller, seen.disk_id)) : NULL;
    return NULL;
}
