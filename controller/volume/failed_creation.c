#include "controller/volume/failed_creation.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/names.h"
#include "provisioner-lib/records/status_annotation.h"

/* Longer than the provisioner waits between two attempts (its --retry-interval-max is 5 minutes).
 */
enum { STAYS_MS = 10 * 60 * 1000 };

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

    timestamp_format(loop_wall_us(controller->loop) + (int64_t)STAYS_MS * 1000, text);
    return annotate(self, controller, controller->kube, volume, ANNOTATION_FORGET_AFTER, text,
                    NULL);
}

int64_t failed_creation_goes_at(const Api__AzVolume *volume)
{
    return creation_has_failed(volume)
               ? timestamp_noted(volume_annotation(volume, ANNOTATION_FORGET_AFTER))
               : 0;
}

struct err *failed_creation_forget(struct task *self, struct controller *controller,
                                   const struct kube_object *volume)
{
    CLEANUP(kube_object_unrefp) struct kube_object *written = NULL;

    TRY(annotate(self, controller, controller->leader_kube, volume, ANNOTATION_DELETE_REQUEST,
                 "creation-failed", &written));
    return cached_delete(self, controller->leader_kube, controller->volumes, written);
}
