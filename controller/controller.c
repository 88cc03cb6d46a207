#include "controller/controller.h"

#include <string.h>

#include "lib/api/azdisk.pb-c.h"
#include "provisioner-lib/records/names.h"

const Api__AzVolume *as_volume(const struct kube_object *object)
{
    return KUBE_AS(Api__AzVolume, object);
}

const Api__AzVolumeAttachment *as_attachment(const struct kube_object *object)
{
    return KUBE_AS(Api__AzVolumeAttachment, object);
}

const char *volume_annotation(const Api__AzVolume *volume, const char *name)
{
    const Api__AzVolumeStatus *status = volume->status;

    return status ? KUBE_MAP_GET(status->annotation, status->n_annotation, name) : NULL;
}

/* It is in the metadata from the first, and in the status, where upstream has it, a moment later:
 * in that moment no disk may be made. */
const char *volume_adopted_id(const Api__AzVolume *volume)
{
    const char *id = volume_annotation(volume, ANNOTATION_PRE_PROVISIONED);

    return id ? id : kube_annotation(volume->metadata, ANNOTATION_PRE_PROVISIONED);
}

const char *attachment_annotation(const Api__AzVolumeAttachment *attachment, const char *name)
{
    const Api__AzVolumeAttachmentStatus *status = attachment->status;

    return status ? KUBE_MAP_GET(status->annotation, status->n_annotation, name) : NULL;
}

bool is_deleting(const struct kube_object *object)
{
    return object->metadata->deletion_timestamp != NULL;
}

bool is_primary(const Api__AzVolumeAttachment *attachment)
{
    return attachment->spec && attachment->spec->role &&
           strcmp(attachment->spec->role, ROLE_PRIMARY) == 0;
}

struct kube_object *const *attachments_of_volume(const struct controller *controller,
                                                 const char *volume_name, size_t *ret_n)
{
    return store_find(controller->attachments_by_volume, volume_name, ret_n);
}

void enqueue(const struct controller *controller, struct workqueue *queue, const char *name)
{
    if (!queue)
        return;
    CLEANUP(freep) char *key = kube_key(controller->settings.namespace_, name);
    workqueue_add(queue, key);
}
