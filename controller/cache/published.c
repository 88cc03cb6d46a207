#include "controller/cache/published.h"

#include <string.h>
#include <strings.h>

#include "controller/cache/disk_pv.h"
#include "controller/cache/node_attachment.h"
#include "controller/cache/volume_name.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/audit/cluster_view.h"

/* ---- PersistentVolumes ---- */

static const Api__PersistentVolumeSpec *spec_of(const struct kube_object *pv)
{
    return KUBE_AS(Api__PersistentVolume, pv)->spec;
}

static bool is_of(const struct controller *controller, const Api__PersistentVolumeSpec *spec,
                  const char *volume_name)
{
    CLEANUP(freep) char *name = volume_name_of_pv(controller, spec);

    return name && strcmp(name, volume_name) == 0;
}

/* Whose AzVolume would have that name. */
static struct kube_object *pv_of_no_volume(const struct controller *controller,
                                           const char *volume_name)
{
    size_t n;
    struct kube_object *const *pvs = pvs_of_name(controller, volume_name, &n);
    struct kube_object *found = NULL;

    for (size_t i = 0; i < n; i++)
        if (*pv_disk(controller, pvs[i]) && is_of(controller, spec_of(pvs[i]), volume_name))
            found = pv_that_counts(found, pvs[i], NULL);
    return found;
}

struct kube_object *kubernetes_pv(const struct controller *controller, const char *volume_name)
{
    const struct kube_object *volume = volume_of_name(controller, volume_name);
    const char *disk = volume ? volume_recorded_disk(as_volume(volume)) : NULL;

    return disk     ? pv_of_disk(controller, disk, volume)
           : volume ? pv_of_unrecorded(controller, volume)
                    : pv_of_no_volume(controller, volume_name);
}

/* ---- VolumeAttachments ---- */

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
           spec->source &&
           (spec->source->persistent_volume_name || spec->source->inline_volume_spec);
}

char *volume_of_pv_name(const struct controller *controller, const char *name)
{
    const struct kube_object *pv = store_get(controller->persistent_volumes, name);

    return pv ? volume_name_of_pv(controller, spec_of(pv)) : NULL;
}

char *volume_of_volume_attachment(const struct controller *controller,
                                  const struct kube_object *object)
{
    const Api__VolumeAttachmentSource *source = as_volume_attachment(object)->spec->source;

    return source->persistent_volume_name
               ? volume_of_pv_name(controller, source->persistent_volume_name)
               : volume_name_of_pv(controller, source->inline_volume_spec);
}

struct list_of_objects {
    struct kube_object **items;
    size_t n;
};

static void add_of_pv(const struct controller *controller, const struct kube_object *pv,
                      struct list_of_objects *list)
{
    size_t n;
    struct kube_object *const *objects =
        store_find(controller->volume_attachments_by_pv, pv->metadata->name, &n);

    for (size_t i = 0; i < n; i++)
        if (volume_attachment_is_ours(controller, objects[i]))
            ARRAY_ADD(list->items, list->n) = objects[i];
}

/* Those of pods that name the disk without a claim. */
static void add_without_pv(const struct controller *controller, const char *volume_name,
                           struct list_of_objects *list)
{
    CLEANUP(freep) char *plain = volume_plain_name(controller, volume_name);
    size_t n;
    struct kube_object *const *objects =
        store_find(controller->volume_attachments_by_inline_disk, plain, &n);

    for (size_t i = 0; i < n; i++)
        if (volume_attachment_is_ours(controller, objects[i]) &&
            is_of(controller, as_volume_attachment(objects[i])->spec->source->inline_volume_spec,
                  volume_name))
            ARRAY_ADD(list->items, list->n) = objects[i];
}

struct kube_object **volume_attachments_of(const struct controller *controller,
                                           const char *volume_name, size_t *ret_n)
{
    const struct kube_object *pv = kubernetes_pv(controller, volume_name);
    const char *disk = pv ? pv_disk(controller, pv) : NULL;
    struct list_of_objects list = {0};
    size_t n;
    struct kube_object *const *pvs = pvs_of_name(controller, volume_name, &n);

    for (size_t i = 0; i < n; i++)
        if (disk && strcasecmp(pv_disk(controller, pvs[i]), disk) == 0)
            add_of_pv(controller, pvs[i], &list);
    add_without_pv(controller, volume_name, &list);
    *ret_n = list.n;
    return list.items;
}

/* ---- what they say together ---- */

static bool is_for_node(const struct kube_object *object, const char *node)
{
    return strcmp(as_volume_attachment(object)->spec->node_name, node) == 0;
}

bool kubernetes_has_on_node(const struct controller *controller, const char *volume_name,
                            const char *node)
{
    size_t n;
    CLEANUP(freep)
    struct kube_object **objects = volume_attachments_of(controller, volume_name, &n);

    for (size_t i = 0; i < n; i++)
        if (volume_attachment_is_attached(objects[i]) && is_for_node(objects[i], node))
            return true;
    return false;
}

bool kubernetes_has_asked_for(const struct controller *controller, const char *volume_name,
                              const char *node)
{
    size_t n;
    CLEANUP(freep)
    struct kube_object **objects = volume_attachments_of(controller, volume_name, &n);

    for (size_t i = 0; i < n; i++)
        if (is_for_node(objects[i], node))
            return true;
    return false;
}

bool kubernetes_is_to_unpublish(const struct controller *controller, const char *volume_name,
                                const char *node)
{
    size_t n;
    struct kube_object *const *objects =
        store_find(controller->volume_attachments_by_node, node, &n);

    for (size_t i = 0; i < n; i++) {
        if (!volume_attachment_is_ours(controller, objects[i]))
            continue;
        CLEANUP(freep) char *name = volume_of_volume_attachment(controller, objects[i]);
        if (!name || strcmp(name, volume_name) == 0)
            return true;
    }
    return false;
}

const char *kubernetes_has_off_record(const struct controller *controller, const char *volume_name,
                                      const char *node)
{
    size_t n;
    CLEANUP(freep)
    struct kube_object **objects = volume_attachments_of(controller, volume_name, &n);

    for (size_t i = 0; i < n; i++) {
        const char *there = as_volume_attachment(objects[i])->spec->node_name;

        if (volume_attachment_is_attached(objects[i]) && !kube_is_deleting(objects[i]->metadata) &&
            strcmp(there, node) != 0 && store_get(controller->nodes, there) &&
            !node_attachment(controller, volume_name, there))
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

    return spec && spec->volume_name && spec->node_name &&
           !attachment_wants(attachment, ROLE_PRIMARY) &&
           !(change && strcmp(change, ROLE_CHANGE_DEMOTED) == 0) &&
           kubernetes_has_on_node(controller, spec->volume_name, spec->node_name);
}

bool kubernetes_has_in_use(const struct controller *controller, const char *volume_name)
{
    size_t n;
    CLEANUP(freep)
    struct kube_object **objects = volume_attachments_of(controller, volume_name, &n);

    for (size_t i = 0; i < n; i++)
        if (!kube_is_deleting(objects[i]->metadata))
            return true;
    return false;
}
