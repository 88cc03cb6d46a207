#include "controller/volume/filesystem_note.h"

#include <string.h>
#include <strings.h>

#include "provisioner-lib/host/filesystem.h"
#include "provisioner-lib/host/identity.h"
#include "provisioner-lib/records/names.h"

enum { MOST_IGNORED = 10 * 1000 };

/* ---- which count ---- */

const char *filesystem_note_fault(const Api__AzVolume *volume,
                                  const Api__AzVolumeAttachment *attachment, const char *note)
{
    struct filesystem_identity identity;
    char uuid[UUID_SIZE];
    CLEANUP(err_freep) struct err *err = identity_parse(note, &identity);

    if (!attachment_wants(attachment, ROLE_PRIMARY) || !attachment_is(attachment, ROLE_PRIMARY))
        return "comes from a node that is not the primary";
    if (err)
        return "is not a file system type followed by a UUID";
    if (!filesystem_find(identity.type))
        return "names a file system that this driver does not create";
    identity_derive(volume->status->detail->volume__id, uuid);
    return strcasecmp(identity.uuid, uuid) == 0
               ? NULL
               : "does not have the UUID of this volume's file system";
}

/* ---- which were ignored ---- */

void filesystem_note_forget(struct controller *controller)
{
    string_set_clear(&controller->leading->ignored_notes);
}

static bool is_first(struct controller *controller, const char *uid)
{
    struct string_set *ignored = &controller->leading->ignored_notes;

    if (!string_set_has(ignored, uid) && string_set_count(ignored) >= MOST_IGNORED)
        string_set_clear(ignored);
    return string_set_add(ignored, uid);
}

static void tell_ignored(struct controller *controller, const struct kube_object *attachment,
                         const char *note, const char *fault)
{
    if (is_first(controller, attachment->metadata->uid))
        events_record(controller->events, &AZ_VOLUME_ATTACHMENTS, attachment->metadata,
                      EVENT_WARNING, "FilesystemNoteIgnored", "RecordFilesystem",
                      "The node's note about the volume's file system, \"%.100s\", is ignored "
                      "because it %s. The volume's record is unchanged",
                      note, fault);
}

/* ---- all of a volume ---- */

const char *filesystem_note_find(struct controller *controller, const struct kube_object *volume)
{
    const char *found = NULL;
    size_t n;
    struct kube_object *const *objects =
        attachments_of_volume(controller, volume->metadata->name, &n);

    if (!volume_is_created(as_volume(volume)) ||
        volume_annotation(as_volume(volume), ANNOTATION_FILESYSTEM))
        return NULL;
    for (size_t i = 0; i < n; i++) {
        const Api__AzVolumeAttachment *attachment = as_attachment(objects[i]);
        const char *note = attachment_annotation(attachment, ANNOTATION_FILESYSTEM);
        const char *fault =
            note ? filesystem_note_fault(as_volume(volume), attachment, note) : NULL;

        if (fault)
            tell_ignored(controller, objects[i], note, fault);
        else if (note)
            found = note;
    }
    return found;
}
