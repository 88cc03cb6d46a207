#include "controller/attachment/kept_fence.h"

#include <string.h>

#include "lib/kube/node.h"
#include "provisioner-lib/records/attachment.h"
#include "provisioner-lib/records/fence_note.h"
#include "provisioner-lib/records/names.h"

/* From the moment on at which it is decided: the fence on which that rests must not go before the
 * taint is seen. */
static bool is_given_up(const struct controller *controller, const struct kube_object *object)
{
    const char *name = as_attachment(object)->spec->node_name;
    const struct kube_object *node = name ? store_get(controller->nodes, name) : NULL;

    if (name && controller->leading && string_set_has(&controller->leading->given_up, name))
        return true;
    return node && (node_is_out_of_service(KUBE_AS(Api__Node, node)) ||
                    node_has_failed_over(KUBE_AS(Api__Node, node)));
}

/* One that is not deleted yet goes last. */
static bool goes_before(const struct kube_object *a, const struct kube_object *b)
{
    return kube_is_deleting(a->metadata) &&
           (!kube_is_deleting(b->metadata) ||
            strcmp(a->metadata->deletion_timestamp, b->metadata->deletion_timestamp) < 0);
}

/* By the fence that the node of `by` has taken from it. Each may have taken it from the other, one
 * of them before it fell silent: then the one that goes first had it first. */
static bool is_fenced_off_by(const struct kube_object *left, const struct kube_object *by)
{
    const Api__AzVolumeAttachment *former = as_attachment(left), *holder = as_attachment(by);
    uint64_t key = fence_note_last_key(former);

    if (!key || fence_note_former(holder) != key)
        return false;
    return fence_note_former(former) != fence_note_key(holder) || goes_before(left, by);
}

/* Between the taint and its detach the other is published still, and what follows it may be placed
 * elsewhere meanwhile: whoever has taken its fence keeps it from then on. One that is going, too,
 * may have lost its fence to a node that has not put that on record. A node that was given up
 * itself keeps no fence against any but the one that it took over from: two of them would wait for
 * each other. */
static bool keeps_fence_against(const struct controller *controller,
                                const struct kube_object *going, const struct kube_object *other)
{
    if (!attachment_annotation(as_attachment(other), ANNOTATION_FENCE) ||
        !is_given_up(controller, other))
        return false;
    return is_fenced_off_by(other, going) ||
           (kube_is_deleting(other->metadata) && !is_given_up(controller, going));
}

bool keeps_fence(const struct controller *controller, const struct kube_object *going)
{
    const char *volume = as_attachment(going)->spec->volume_name;
    size_t n = 0;
    struct kube_object *const *objects =
        volume ? attachments_of_volume(controller, volume, &n) : NULL;

    for (size_t i = 0; i < n; i++)
        if (strcmp(objects[i]->key, going->key) != 0 &&
            keeps_fence_against(controller, going, objects[i]))
            return true;
    return false;
}
