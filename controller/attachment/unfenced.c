#include "controller/attachment/unfenced.h"

#include "provisioner-lib/records/attachment.h"
#include "provisioner-lib/records/fence_note.h"
#include "provisioner-lib/records/volume.h"

enum { MOST_TOLD = 10 * 1000 };

bool unfenced_is_news(const Api__AzVolume *volume, const Api__AzVolumeAttachment *before,
                      const Api__AzVolumeAttachment *after)
{
    return fence_note_is_unsupported(after) && !fence_note_is_unsupported(before) &&
           attachment_wants(after, ROLE_PRIMARY) && attachment_is(after, ROLE_PRIMARY) &&
           volume_fencing(volume) == FENCING_PREFERRED;
}

static bool is_first(struct controller *controller, const char *uid)
{
    struct string_set *told = &controller->leading->unfenced;

    if (!string_set_has(told, uid) && string_set_count(told) >= MOST_TOLD)
        string_set_clear(told);
    return string_set_add(told, uid);
}

/* One that was not there before has been read with a list: whoever led then has told it. */
void unfenced_consider(struct controller *controller, const struct kube_object *before,
                       const struct kube_object *after)
{
    if (!controller->leading || !before || !after)
        return;
    const Api__AzVolumeAttachmentSpec *spec = as_attachment(after)->spec;
    const struct kube_object *volume =
        spec && spec->volume_name ? volume_of_name(controller, spec->volume_name) : NULL;

    if (!volume ||
        !unfenced_is_news(as_volume(volume), as_attachment(before), as_attachment(after)))
        return;
    if (is_first(controller, after->metadata->uid))
        events_record(controller->events, &AZ_VOLUMES, volume->metadata, EVENT_WARNING,
                      "FenceUnsupported", "Fence",
                      "The volume is used on node %s without a fence, because its disk supports no "
                      "SCSI persistent reservations there: a node that Kubernetes has given up can "
                      "still write to it. VM sizes with SCSI disks have fences, those with NVMe "
                      "disks do not. For new volumes, the StorageClass parameter fencing: required "
                      "refuses such nodes, and fencing: none silences this warning",
                      spec->node_name ? spec->node_name : "");
}

void unfenced_forget(struct controller *controller)
{
    string_set_clear(&controller->leading->unfenced);
}
