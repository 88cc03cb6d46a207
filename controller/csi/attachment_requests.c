#include "controller/csi/attachment_requests.h"

#include <string.h>

#include "controller/cache/node_attachment.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/names.h"

enum { DETACH_TRIES = 5 }; /* each after somebody else's write */

char *csi_operation_id(const char *volume_id, const char *node)
{
    CLEANUP(freep) char *lower = mem_lower(volume_id);

    return mem_printf("%s on node %s", lower, node);
}

struct err *csi_find_attachment(struct task *self, struct controller *controller,
                                const char *volume, const char *node, struct kube_object **ret)
{
    struct kube_object *object = node_attachment(controller, volume, node);

    if (!object)
        return node_attachment_read(self, controller, volume, node, ret);
    *ret = kube_object_ref(object);
    return NULL;
}

struct err *csi_change_purpose(struct task *self, struct controller *controller,
                               const struct kube_object *object, struct attachment_purpose purpose,
                               struct kube_object **ret)
{
    return cached_patch(self, controller->kube, controller->attachments, object,
                        if_unchanged(object, attachment_role_json(purpose)), ret);
}

/* The state that it had before the attempt failed, in which the leader acts as in the other. */
struct err *csi_request_attempt(struct task *self, struct controller *controller,
                                struct kube_object *object, struct kube_object **ret)
{
    if (strcmp(attachment_state(as_attachment(object)), STATE_ATTACHMENT_FAILED) != 0) {
        *ret = kube_object_ref(object);
        return NULL;
    }
    json_t *changes = json_pack("{s:{s:s, s:n}}", "status", "state", STATE_ATTACHING, "error");
    return cached_patch_status(self, controller->kube, controller->attachments, object,
                               if_unchanged(object, changes), ret);
}

static struct err *note_detach_request(struct task *self, struct controller *controller,
                                       const struct kube_object *object)
{
    return cached_patch_status(
        self, controller->kube, controller->attachments, object,
        if_unchanged(object, attachment_detach_request_json(as_attachment(object))), NULL);
}

/* As it is now; the reconciler writes to it as well. */
static struct err *reread_same(struct task *self, struct controller *controller,
                               struct kube_object **io)
{
    CLEANUP(kube_object_unrefp) struct kube_object *now = NULL;
    const struct kube_object *object = *io;

    TRY(cached_get(self, controller->kube, controller->attachments, object->metadata->namespace_,
                   object->metadata->name, &now));
    if (strcmp(now->metadata->uid, object->metadata->uid) != 0)
        return err_new(ERR_CONFLICT, "%s has been replaced by another object of the same name",
                       object->key);
    kube_object_unref(*io);
    *io = TAKE_PTR(now);
    return NULL;
}

struct err *csi_request_detach(struct task *self, struct controller *controller,
                               struct kube_object *asked)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = kube_object_ref(asked);
    struct err *err = note_detach_request(self, controller, object);

    for (int i = 0; i < DETACH_TRIES && err && err_kind(err) == ERR_CONFLICT; i++) {
        err_free(err);
        TRY(reread_same(self, controller, &object));
        err = note_detach_request(self, controller, object);
    }
    TRY(err);
    if (kube_is_deleting(object->metadata))
        return NULL;
    return kube_delete(self, controller->kube, &AZ_VOLUME_ATTACHMENTS,
                       controller->settings.namespace_, object->metadata->name,
                       object->metadata->uid);
}
