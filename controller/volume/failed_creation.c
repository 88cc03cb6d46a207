#include "controller/volume/failed_creation.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/failed_attempt.h"
#include "provisioner-lib/records/names.h"
#include "provisioner-lib/records/status_annotation.h"

/* A disk that no VM has ever had may say that nobody has had it since it was made. */
enum { MAKING_US = 60 * 1000 * 1000 };

bool creation_has_failed(const Api__AzVolume *volume)
{
    return strcmp(volume_state(volume), "CreationFailed") == 0;
}

static struct err *annotate(struct task *self, struct controller *controller, struct kube *kube,
                            const struct kube_object *volume, const char *note, const char *value,
                            struct kube_object **ret)
{
    return cached_patch_status(self, kube, controller->volumes, volume,
                               if_unchanged(volume, status_annotation_json(note, value)), ret);
}

struct err *failed_creation_note(struct task *self, struct controller *controller,
                                 const struct kube_object *volume)
{
    char text[TIMESTAMP_SIZE];

    timestamp_format(loop_wall_us(controller->loop) + (int64_t)FAILED_STAYS_MS * 1000, text);
    return annotate(self, controller, controller->kube, volume, ANNOTATION_FORGET_AFTER, text,
                    NULL);
}

int64_t failed_creation_goes_at(const Api__AzVolume *volume)
{
    return creation_has_failed(volume)
               ? timestamp_noted(volume_annotation(volume, ANNOTATION_FORGET_AFTER))
               : 0;
}

bool creation_is_forgotten(const Api__AzVolume *volume)
{
    const char *request = volume_annotation(volume, ANNOTATION_DELETE_REQUEST);

    return request && strcmp(request, DELETE_REQUEST_OF_FAILED_CREATION) == 0;
}

const char *failed_creation_disk_is_used(const Api__AzVolume *volume, const struct cloud_disk *disk)
{
    int64_t forget_after = timestamp_noted(volume_annotation(volume, ANNOTATION_FORGET_AFTER));

    if (disk->n_instances > 0)
        return "a VM has it";
    if (disk->owned_us > disk->made_us + MAKING_US)
        return "a VM has had it";
    return failed_attempt_excludes(volume->metadata, forget_after, disk->made_us);
}

struct err *failed_creation_forget(struct task *self, struct controller *controller,
                                   const struct kube_object *volume)
{
    CLEANUP(kube_object_unrefp) struct kube_object *written = NULL;

    TRY(annotate(self, controller, controller->leader_kube, volume, ANNOTATION_DELETE_REQUEST,
                 DELETE_REQUEST_OF_FAILED_CREATION, &written));
    return cached_delete(self, controller->leader_kube, controller->volumes, written);
}
