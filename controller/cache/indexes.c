#include "controller/cache/indexes.h"

#include "controller/cache/colocation.h"
#include "controller/scheduling/interpod_affinity.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/kube/pv_source.h"
#include "provisioner-lib/records/names.h"
#include "provisioner-lib/records/snapshot.h"

static void index_by_volume(const struct kube_object *object,
                            void (*emit)(void *ctx, const char *value), void *ctx)
{
    const Api__AzVolumeAttachmentSpec *spec = as_attachment(object)->spec;

    if (spec && spec->volume_name)
        emit(ctx, spec->volume_name);
}

static void index_by_node(const struct kube_object *object,
                          void (*emit)(void *ctx, const char *value), void *ctx)
{
    const Api__AzVolumeAttachmentSpec *spec = as_attachment(object)->spec;

    if (spec && spec->node_name)
        emit(ctx, spec->node_name);
}

static void index_by_recorded_pv(const struct kube_object *object,
                                 void (*emit)(void *ctx, const char *value), void *ctx)
{
    const Api__AzVolumeSpec *spec = as_volume(object)->spec;

    if (spec && spec->persistent_volume)
        emit(ctx, spec->persistent_volume);
}

static void emit_lower(const char *id, void (*emit)(void *ctx, const char *value), void *ctx)
{
    CLEANUP(freep) char *lower = id ? mem_lower(id) : NULL;

    if (lower)
        emit(ctx, lower);
}

static void index_by_recorded_disk(const struct kube_object *object,
                                   void (*emit)(void *ctx, const char *value), void *ctx)
{
    emit_lower(volume_recorded_disk(as_volume(object)), emit, ctx);
}

static void index_by_snapshot_id(const struct kube_object *object,
                                 void (*emit)(void *ctx, const char *value), void *ctx)
{
    emit_lower(snapshot_recorded_id(as_snapshot(object)), emit, ctx);
}

static void index_by_source(const struct kube_object *object,
                            void (*emit)(void *ctx, const char *value), void *ctx)
{
    const Api__AzSnapshotSpec *spec = as_snapshot(object)->spec;

    emit_lower(spec ? spec->source_volume_id : NULL, emit, ctx);
}

/* The AzVolume's name by the disk's name alone, which several disks may have; NULL if it is about
 * none. */
static char *plain_name_of(const Api__PersistentVolumeSpec *spec)
{
    const char *disk = pv_handle(spec);
    char *name = NULL;

    if (disk)
        err_free(volume_name_of_id(disk, &name));
    return name;
}

/* Of whatever driver: an index does not know which is ours. */
static void index_by_disk_name(const struct kube_object *object,
                               void (*emit)(void *ctx, const char *value), void *ctx)
{
    CLEANUP(freep) char *name = plain_name_of(KUBE_AS(Api__PersistentVolume, object)->spec);

    if (name)
        emit(ctx, name);
}

static void index_by_pv(const struct kube_object *object,
                        void (*emit)(void *ctx, const char *value), void *ctx)
{
    const Api__VolumeAttachmentSpec *spec = KUBE_AS(Api__VolumeAttachment, object)->spec;

    if (spec && spec->source && spec->source->persistent_volume_name)
        emit(ctx, spec->source->persistent_volume_name);
}

/* Of a pod that names the disk without a claim. */
static void index_by_inline_disk(const struct kube_object *object,
                                 void (*emit)(void *ctx, const char *value), void *ctx)
{
    const Api__VolumeAttachmentSpec *spec = KUBE_AS(Api__VolumeAttachment, object)->spec;
    CLEANUP(freep)
    char *name = spec && spec->source ? plain_name_of(spec->source->inline_volume_spec) : NULL;

    if (name)
        emit(ctx, name);
}

static void index_by_published_node(const struct kube_object *object,
                                    void (*emit)(void *ctx, const char *value), void *ctx)
{
    const Api__VolumeAttachmentSpec *spec = KUBE_AS(Api__VolumeAttachment, object)->spec;

    if (spec && spec->node_name)
        emit(ctx, spec->node_name);
}

void indexes_add(struct controller *controller)
{
    store_keep_sorted(controller->volumes); /* for ListVolumes */
    controller->volumes_by_pv = store_add_index(controller->volumes, index_by_recorded_pv);
    controller->attachments_by_volume = store_add_index(controller->attachments, index_by_volume);
    controller->attachments_by_node = store_add_index(controller->attachments, index_by_node);
    controller->volumes_by_disk = store_add_index(controller->volumes, index_by_recorded_disk);
    store_keep_sorted(controller->snapshots); /* for ListSnapshots */
    controller->snapshots_by_id = store_add_index(controller->snapshots, index_by_snapshot_id);
    controller->snapshots_by_disk = store_add_index(controller->snapshots, index_by_source);
    controller->persistent_volumes_by_name =
        store_add_index(controller->persistent_volumes, index_by_disk_name);
    controller->volume_attachments_by_pv =
        store_add_index(controller->volume_attachments, index_by_pv);
    controller->volume_attachments_by_inline_disk =
        store_add_index(controller->volume_attachments, index_by_inline_disk);
    controller->volume_attachments_by_node =
        store_add_index(controller->volume_attachments, index_by_published_node);
    controller->persistent_volumes_by_claim =
        store_add_index(controller->persistent_volumes, persistent_volume_index_by_claim);
    controller->pods_by_claim = store_add_index(controller->pods, pod_index_by_claim);
    controller->pods_by_label = store_add_index(controller->pods, pod_index_by_label);
    controller->repelling_pods = store_add_index(controller->pods, pod_index_repelling);
}
