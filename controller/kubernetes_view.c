#include "controller/kubernetes_view.h"

#include <string.h>

#include "controller/names.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"

struct kube_object *kubernetes_pv(const struct controller *controller, const char *volume_name)
{
    size_t n;
    struct kube_object *const *objects =
        store_find(controller->persistent_volumes_by_volume, volume_name, &n);

    for (size_t i = 0; i < n; i++) {
        const char *driver = KUBE_AS(Api__PersistentVolume, objects[i])->spec->csi->driver;

        if (driver && strcmp(driver, controller->settings.driver_name) == 0)
            return objects[i];
    }
    return NULL;
}

bool pv_is_bound(const struct kube_object *pv)
{
    const Api__PersistentVolumeStatus *status = KUBE_AS(Api__PersistentVolume, pv)->status;

    return !is_deleting(pv) && status && status->phase && strcmp(status->phase, "Bound") == 0;
}

struct kube_object *const *volume_attachments_of_pv(const struct controller *controller,
                                                    const struct kube_object *pv, size_t *ret_n)
{
    return store_find(controller->volume_attachments_by_pv, pv->metadata->name, ret_n);
}

const Api__VolumeAttachment *as_volume_attachment(const struct kube_object *object)
{
    return KUBE_AS(Api__VolumeAttachment, object);
}

bool volume_attachment_is_ours(const struct controller *controller,
                               const struct kube_object *object)
{
    const Api__VolumeAttachmentSpec *spec = as_volume_attachment(object)->spec;

    return spec && spec->attacher &&
           strcmp(spec->attacher, controller->settings.driver_name) == 0 && spec->node_name &&
           spec->source && spec->source->persistent_volume_name;
}

bool volume_attachment_is_attached(const struct kube_object *object)
{
    const Api__VolumeAttachmentStatus *status = as_volume_attachment(object)->status;

    return status && status->attached;
}

static struct kube_object *const *volume_attachments_of(const struct controller *controller,
                                                        const char *volume_name, size_t *ret_n)
{
    const struct kube_object *pv = kubernetes_pv(controller, volume_name);

    *ret_n = 0;
    return pv ? volume_attachments_of_pv(controller, pv, ret_n) : NULL;
}

bool kubernetes_has_on_node(const struct controller *controller, const char *volume_name,
                            const char *node)
{
    size_t n;
    struct kube_object *const *objects = volume_attachments_of(controller, volume_name, &n);

    for (size_t i = 0; i < n; i++)
        if (volume_attachment_is_ours(controller, objects[i]) &&
            volume_attachment_is_attached(objects[i]) &&
            strcmp(as_volume_attachment(objects[i])->spec->node_name, node) == 0)
            return true;
    return false;
}

/* True also if there is no such PersistentVolume any more. */
static bool may_be_of_volume(const struct controller *controller, const struct kube_object *object,
                             const char *volume_name)
{
    const struct kube_object *pv =
        store_get(controller->persistent_volumes,
                  as_volume_attachment(object)->spec->source->persistent_volume_name);
    const Api__PersistentVolumeSpec *spec = pv ? KUBE_AS(Api__PersistentVolume, pv)->spec : NULL;
    const char *handle = spec && spec->csi ? spec->csi->volume_handle : NULL;
    CLEANUP(freep) char *name = NULL;
    CLEANUP(err_freep) struct err *err = handle ? volume_name_of_id(handle, &name) : NULL;

    return !pv || (name && strcmp(name, volume_name) == 0);
}

bool kubernetes_is_to_unpublish(const struct controller *controller, const char *volume_name,
                                const char *node)
{
    size_t n;
    struct kube_object *const *objects =
        store_find(controller->volume_attachments_by_node, node, &n);

    for (size_t i = 0; i < n; i++)
        if (volume_attachment_is_ours(controller, objects[i]) &&
            may_be_of_volume(controller, objects[i], volume_name))
            return true;
    return false;
}

static bool has_record(const struct controller *controller, const char *volume_name,
                       const char *node)
{
    CLEANUP(freep) char *name = attachment_name_of(volume_name, node);
    CLEANUP(freep) char *key = kube_key(controller->settings.namespace_, name);

    return store_get(controller->attachments, key) != NULL;
}

const char *kubernetes_has_off_record(const struct controller *controller, const char *volume_name,
                                      const char *node)
{
    size_t n;
    struct kube_object *const *objects = volume_attachments_of(controller, volume_name, &n);

    for (size_t i = 0; i < n; i++) {
        const char *there = as_volume_attachment(objects[i])->spec->node_name;

        if (volume_attachment_is_ours(controller, objects[i]) &&
            volume_attachment_is_attached(objects[i]) && !is_deleting(objects[i]) &&
            strcmp(there, node) != 0 && store_get(controller->nodes, there) &&
            !has_record(controller, volume_name, there))
            return there;
    }
    return NULL;
}

bool kubernetes_has_replica(const struct controller *controller,
                            const Api__AzVolumeAttachment *attachment)
{
    const Api__AzVolumeAttachmentSpec *spec = attachment->spec;
    const Api__ObjectMeta *metadata = attachment->metadata;
    const char *change = KUBE_MAP_GET(metadata->labels, metadata->n_labels, LABEL_ROLE_CHANGE);

    return spec && spec->volume_name && spec->node_name && !is_primary(attachment) &&
           !(change && strcmp(change, ROLE_CHANGE_DEMOTED) == 0) &&
           kubernetes_has_on_node(controller, spec->volume_name, spec->node_name);
}

bool kubernetes_has_in_use(const struct controller *controller, const char *volume_name)
{
    size_t n;
    struct kube_object *const *objects = volume_attachments_of(controller, volume_name, &n);

    for (size_t i = 0; i < n; i++)
        if (volume_attachment_is_ours(controller, objects[i]) && !is_deleting(objects[i]))
            return true;
    return false;
}
