#include "controller/cache/provenance.h"

#include "controller/cache/volume_name.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/host/identity.h"
#include "provisioner-lib/records/snapshot.h"

void provenance_fini(struct provenance *provenance)
{
    free(provenance->filesystem);
    free(provenance->uuids);
}

/* One that has a file system of its own on record has had it since; nothing else comes after. */
void provenance_of_disk(const struct controller *controller, const char *disk_id,
                        struct provenance *ret)
{
    size_t n;
    struct kube_object *const *volumes = volumes_of_disk(controller, disk_id, &n);
    const Api__AzVolume *volume = n == 1 ? as_volume(volumes[0]) : NULL;
    const char *own = volume ? volume_annotation(volume, ANNOTATION_FILESYSTEM) : NULL;
    const char *former = volume ? volume_annotation(volume, ANNOTATION_SOURCE_UUIDS) : NULL;
    char uuid[UUID_SIZE];

    *ret = (struct provenance){0};
    if (own) {
        ret->filesystem = mem_strdup(own);
        return;
    }
    identity_derive(disk_id, uuid);
    ret->uuids = former ? mem_printf("%s %s", uuid, former) : mem_strdup(uuid);
    if (volume)
        ret->filesystem = mem_strdup(volume_annotation(volume, ANNOTATION_SOURCE_FILESYSTEM));
}

struct err *provenance_of_source(struct task *self, const struct controller *controller,
                                 const Api__AzVolume *volume, struct provenance *ret)
{
    const char *id = volume_source_id(volume);
    CLEANUP(cloud_snapshot_fini) struct cloud_snapshot seen = {0};

    *ret = (struct provenance){0};
    if (!id)
        return NULL;
    if (volume->spec->content_volume_source->content__source != SOURCE_SNAPSHOT) {
        provenance_of_disk(controller, id, ret);
        return NULL;
    }
    const struct kube_object *snapshot = snapshot_of_id(controller, id);
    if (snapshot && snapshot_is_created(as_snapshot(snapshot))) {
        ret->filesystem = mem_strdup(as_snapshot(snapshot)->status->filesystem);
        ret->uuids =
            mem_strdup(snapshot_annotation(as_snapshot(snapshot), ANNOTATION_SOURCE_UUIDS));
        return NULL;
    }
    TRY(err_unless(controller->cloud->ops->snapshot_get(self, controller->cloud, id, &seen),
                   ERR_NOT_FOUND));
    if (seen.disk_id)
        provenance_of_disk(controller, seen.disk_id, ret);
    return NULL;
}
