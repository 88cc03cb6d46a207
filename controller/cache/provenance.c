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

/* ---- of a record that was lost ---- */

static char *with_uuid(const char *uuid, char *others)
{
    CLEANUP(freep) char *owned = others;

    return owned ? mem_printf("%s %s", uuid, owned) : mem_strdup(uuid);
}

/* `note`: as a record has it, or NULL. */
static char *with_noted(const char *note, char *others)
{
    struct filesystem_identity identity;
    CLEANUP(err_freep) struct err *err = note ? identity_parse(note, &identity) : NULL;

    return note && !err ? with_uuid(identity.uuid, others) : others;
}

static char *ever_on_disk(const struct controller *controller, const char *disk_id)
{
    size_t n;
    struct kube_object *const *volumes = volumes_of_disk(controller, disk_id, &n);
    const Api__AzVolume *volume = n == 1 ? as_volume(volumes[0]) : NULL;
    char *uuids = volume ? mem_strdup(volume_annotation(volume, ANNOTATION_SOURCE_UUIDS)) : NULL;
    char own[UUID_SIZE];

    identity_derive(disk_id, own);
    if (volume)
        uuids = with_noted(volume_annotation(volume, ANNOTATION_SOURCE_FILESYSTEM), uuids);
    return with_uuid(own, uuids);
}

static char *ever_in_snapshot(const struct controller *controller, const Api__AzSnapshot *snapshot)
{
    const char *disk_id = snapshot->spec ? snapshot->spec->source_volume_id : NULL;
    char *uuids = mem_strdup(snapshot_annotation(snapshot, ANNOTATION_SOURCE_UUIDS));

    uuids = with_noted(snapshot->status->filesystem, uuids);
    if (uuids || !disk_id)
        return uuids;
    return ever_on_disk(controller, disk_id);
}

struct err *provenance_uuids_of(struct task *self, const struct controller *controller,
                                const char *source_id, char **ret)
{
    CLEANUP(cloud_snapshot_fini) struct cloud_snapshot seen = {0};
    const struct kube_object *object = snapshot_of_id(controller, source_id);

    *ret = NULL;
    if (object && snapshot_is_created(as_snapshot(object))) {
        *ret = ever_in_snapshot(controller, as_snapshot(object));
        return NULL;
    }
    struct err *err =
        controller->cloud->ops->snapshot_get(self, controller->cloud, source_id, &seen);
    if (err && err_kind(err) == ERR_INVALID) { /* an id that no snapshot can have */
        err_free(err);
        *ret = ever_on_disk(controller, source_id);
        return NULL;
    }
    if (err && err_is_transient(err))
        return err;
    err_free(err); /* it is gone, or nobody may look at it */
    if (seen.disk_id && *seen.disk_id)
        *ret = ever_on_disk(controller, seen.disk_id);
    return NULL;
}
