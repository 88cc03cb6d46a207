#include "controller/cache/published.h"

#include <string.h>
#include <strings.h>

#include "controller/cache/node_attachment.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/kube/pv_source.h"
#include "provisioner-lib/audit/cluster_view.h"
#include "provisioner-lib/records/names.h"

#define PROVISIONED_BY "pv.kubernetes.io/provisioned-by"
#define PROVISIONED_IN_TREE "kubernetes.io/azure-disk"

static const Api__PersistentVolumeSpec *spec_of(const struct kube_object *pv)
{
    return KUBE_AS(Api__PersistentVolume, pv)->spec;
}

/* ---- PersistentVolumes ---- */

/* Of one that is none of ours, "". */
static const char *disk_of(const struct controller *controller, const struct kube_object *pv)
{
    return pv_is_of_driver(spec_of(pv), controller->settings.driver_name) ? pv_handle(spec_of(pv))
                                                                          : "";
}

static const struct kube_object *volume_of(const struct controller *controller, const char *name)
{
    CLEANUP(freep) char *key = kube_key(controller->settings.namespace_, name);

    return store_get(controller->volumes, key);
}

bool pv_is_provisioned(const struct controller *controller, const struct kube_object *pv)
{
    const char *by = kube_annotation(pv->metadata, PROVISIONED_BY);

    return by && (strcmp(by, controller->settings.driver_name) == 0 ||
                  (spec_of(pv)->azure_disk && strcmp(by, PROVISIONED_IN_TREE) == 0));
}

/* Can its disk be that of an AzVolume that names none? The disk may be yet to be made: what
 * somebody else has made of the same name, in whatever resource group, is another one. */
static bool is_of_unrecorded(const struct controller *controller, const struct kube_object *pv,
                             const struct kube_object *volume)
{
    const Api__AzVolumeSpec *spec = as_volume(volume)->spec;

    return pv_is_provisioned(controller, pv) ||
           (spec && spec->persistent_volume &&
            strcmp(spec->persistent_volume, pv->metadata->name) == 0);
}

/* Which of several counts: a bound one, else the one that the AzVolume was written for. */
static int rank_of(const struct kube_object *pv, const struct kube_object *volume)
{
    const char *uid = volume ? kube_annotation(volume->metadata, ANNOTATION_PV_UID) : NULL;
    bool recorded = uid && pv->metadata->uid && strcmp(uid, pv->metadata->uid) == 0;

    return 1 + recorded + 2 * pv_is_bound(pv);
}

/* Disks of several resource groups may have one name. `disk` NULL: of any, as far as the AzVolume
 * may have it. */
static struct kube_object *find_pv(const struct controller *controller, const char *volume_name,
                                   const char *disk)
{
    size_t n;
    struct kube_object *const *objects =
        store_find(controller->persistent_volumes_by_volume, volume_name, &n);
    const struct kube_object *volume = n > 0 ? volume_of(controller, volume_name) : NULL;
    struct kube_object *found = NULL;
    int best = 0;

    for (size_t i = 0; i < n; i++) {
        const char *named = disk_of(controller, objects[i]);
        int rank = rank_of(objects[i], volume);
        bool fits = disk ? strcasecmp(disk, named) == 0
                         : !volume || is_of_unrecorded(controller, objects[i], volume);

        if (*named && fits && rank > best) {
            found = objects[i];
            best = rank;
        }
    }
    return found;
}

struct kube_object *kubernetes_pv(const struct controller *controller, const char *volume_name)
{
    const struct kube_object *volume = volume_of(controller, volume_name);

    return find_pv(controller, volume_name,
                   volume ? volume_recorded_disk(as_volume(volume)) : NULL);
}

struct kube_object *kubernetes_pv_of_disk(const struct controller *controller,
                                          const char *volume_name, const char *disk_id)
{
    return find_pv(controller, volume_name, disk_id);
}

static bool is_in_phase(const struct kube_object *pv, const char *phase)
{
    const Api__PersistentVolumeStatus *status = KUBE_AS(Api__PersistentVolume, pv)->status;

    return status && status->phase && strcmp(status->phase, phase) == 0;
}

bool pv_is_bound(const struct kube_object *pv)
{
    return !kube_is_deleting(pv->metadata) && is_in_phase(pv, "Bound");
}

bool pv_is_released(const struct kube_object *pv)
{
    return is_in_phase(pv, "Released");
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

char *volume_of_volume_attachment(const struct controller *controller,
                                  const struct kube_object *object)
{
    const Api__VolumeAttachmentSource *source = as_volume_attachment(object)->spec->source;
    const struct kube_object *pv =
        source->persistent_volume_name
            ? store_get(controller->persistent_volumes, source->persistent_volume_name)
            : NULL;

    return volume_name_of_pv(pv ? spec_of(pv) : source->inline_volume_spec);
}

struct list_of_objects {
    struct kube_object **items;
    size_t n;
};

static void add_ours(const struct controller *controller, const struct store_index *index,
                     const char *value, struct list_of_objects *list)
{
    size_t n;
    struct kube_object *const *objects = store_find(index, value, &n);

    for (size_t i = 0; i < n; i++)
        if (volume_attachment_is_ours(controller, objects[i]))
            ARRAY_ADD(list->items, list->n) = objects[i];
}

struct kube_object **volume_attachments_of(const struct controller *controller,
                                           const char *volume_name, size_t *ret_n)
{
    const struct kube_object *pv = kubernetes_pv(controller, volume_name);
    struct list_of_objects list = {0};
    size_t n;
    struct kube_object *const *pvs =
        store_find(controller->persistent_volumes_by_volume, volume_name, &n);

    for (size_t i = 0; i < n; i++)
        if (pv && strcasecmp(disk_of(controller, pvs[i]), disk_of(controller, pv)) == 0)
            add_ours(controller, controller->volume_attachments_by_pv, pvs[i]->metadata->name,
                     &list);
    add_ours(controller, controller->volume_attachments_by_inline_disk, volume_name, &list);
    *ret_n = list.n;
    return list.items;
}

/* ---- what they say together ---- */

bool kubernetes_has_on_node(const struct controller *controller, const char *volume_name,
                            const char *node)
{
    size_t n;
    CLEANUP(freep)
    struct kube_object **objects = volume_attachments_of(controller, volume_name, &n);

    for (size_t i = 0; i < n; i++)
        if (volume_attachment_is_attached(objects[i]) &&
            strcmp(as_volume_attachment(objects[i])->spec->node_name, node) == 0)
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
